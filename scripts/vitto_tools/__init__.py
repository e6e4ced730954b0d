"""What developers, admins and benches run beside the product; not deployed."""
