"""What is kept longer than its retention: legal holds, and days that the archive does not have yet."""
