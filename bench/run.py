"""Every bench, one after the other: figures are ratios or medians of one run on this machine."""
import callback
import footprint
import poison
import store

if __name__ == "__main__":
    callback.main()
    footprint.main()
    poison.main()
    store.main()
