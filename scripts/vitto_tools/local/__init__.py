"""The product on one machine: servers as supervised processes on loopback."""
