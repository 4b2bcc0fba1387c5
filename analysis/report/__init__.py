"""The reports: what stands in reports/, and how it is gathered and written."""
