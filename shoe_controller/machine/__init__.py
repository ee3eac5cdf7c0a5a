"""The life of a shoe and its rounds as one table of transitions, and the engines that follow it."""
