"""The loop: observe, reason, act, absorb, judge. Pure but for ``engine``, which only calls ports."""
