"""Days of ordinary work and of attacks on a real MariaDB, and what detection makes of its logs."""
