"""Every bench, one after the other: figures are ratios or medians of one run on this machine."""
import sys

import broker_rates
import footprint
import handlers
import jq
import lease
import lot
import pace
import pages
import poison
import replay
import store

if __name__ == "__main__":
    broker_rates.main()
    footprint.main()
    handlers.main()
    jq.main()
    lease.main()
    lot.main()
    pace.main()
    missed = pages.main()
    poison.main()
    replay.main()
    store.main()
    sys.exit(missed)
