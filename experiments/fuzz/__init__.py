"""Random inputs that look for violations: spoilt model files, and walks over the service."""
