"""The panel of the strategy lab. It shows what the services of the lab say, and tells them what the user wants."""
