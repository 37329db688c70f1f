"""What a release consists of: sdist, wheel, the archive of the vectors, the npm package; all checked.

Imports: posenc, scripts.setup.
"""
