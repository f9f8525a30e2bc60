-- One database for everything, so that a grant on tailrace.* says all of it.
CREATE DATABASE IF NOT EXISTS tailrace {on_cluster}
