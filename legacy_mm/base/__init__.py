"""Values that everybody may import: errors, the model, the clock, secrets, typed settings. Start with `model.py`.

Rule: a module here imports nothing of ours but its neighbours, and holds no word of the legacy tool.
"""
