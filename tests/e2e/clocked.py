"""A server whose wall clock is set from here."""
import os
import struct
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Clock:
    """`under` is what the server is run under; how much it is `ahead` of the machine's clock can change while it runs."""

    def __init__(self, folder):
        library, self.shift = os.path.join(folder, "clock.so"), os.path.join(folder, "shift")
        subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, os.path.join(HERE, "clock.c")], check=True)
        # A sanitizer wants to be loaded first, unless it is told that it need not.
        options = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
        self.under = ("env", f"LD_PRELOAD={library}", f"CLOCK_SHIFT={self.shift}", f"ASAN_OPTIONS={options}")

    def ahead(self, seconds):
        with open(self.shift, "r+b" if os.path.exists(self.shift) else "wb") as file:
            file.write(struct.pack("=q", round(seconds)))
