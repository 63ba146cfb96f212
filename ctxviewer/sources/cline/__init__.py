"""Cline's classic format: extension 1.x to 3.89.x and 4.0.1 to 4.0.12, and the standalone program of that time."""
