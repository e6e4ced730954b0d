"""What an admin has done with the stores' own credentials: one registry of commands, run by the deployed function
`app.admin`, and by `vitto admin` in process."""
