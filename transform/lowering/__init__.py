"""From Relax to what a virtual machine runs: passes over modules, one step of the way each."""
