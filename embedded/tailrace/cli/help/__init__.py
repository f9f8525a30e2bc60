"""The help of all commands in one structure, from which the other forms are generated.

model.py describes a command. from_parser.py reads the descriptions of Python commands from their parsers,
java.py those of Java commands from java_commands.json. text.py renders `--help`, roff.py manual pages,
markdown.py docs/CLI.md, completion.py the completion of shells.
"""
