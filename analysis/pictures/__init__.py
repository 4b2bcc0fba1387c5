"""Pictures of boards, fills and dependence graphs, as SVG and as text."""
