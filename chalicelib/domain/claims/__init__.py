"""What texts say plainly: subject, attribute and value, found by patterns that are data, in many languages."""
