"""The programs that run beside the engines, in any deployment: configuration, command and health."""
