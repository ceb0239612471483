"""What people see: HoloViews plots and Panel layouts around the models."""
