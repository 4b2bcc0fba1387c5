"""What a description is written in: values, rays, layouts, and routines with their contracts."""
