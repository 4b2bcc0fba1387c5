"""The intermediate representation and the DSL: values, rays, layouts, and routines with their contracts."""
