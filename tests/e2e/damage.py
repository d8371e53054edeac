"""Damage that a disk does to a store."""
import os


def damage(folder, text):
    """Changes a byte of `text` in the one pack of the store that has it; returns what changes it back."""
    found = []
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                data = file.read()
            if "pack" in path and text in data:
                found.append((path, data.index(text) + 3))
    assert len(found) == 1, found
    path, place = found[0]

    def write(byte):
        with open(path, "r+b") as file:
            file.seek(place)
            file.write(byte)
    write(b"#")
    return lambda: write(text[3:4])
