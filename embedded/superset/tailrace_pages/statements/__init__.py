"""The pages of statements: search, and one statement.

fingerprinting.py           the fingerprint of a pasted statement, by the fingerprint service
formatting.py               a fingerprint in several lines
searching.py                what a search text can mean, and its rows
listing.py                  statements by total time
periods.py                  latency against earlier periods, and when it cannot be compared
trend.py                    the chart and the heat map
plans.py, advice.py         plans, their differences, and advice as DDL
reading.py                  all rows of one statement
views.py                    the routes
"""
