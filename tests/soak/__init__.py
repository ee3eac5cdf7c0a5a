"""Long campaigns: faults, crashes and fuzzing for as long as it takes. `make soak` runs them all.

    python -m tests.soak [NAME ...] [--seed N] [--size FACTOR]      run all campaigns, or those named
    python -m tests.soak --list                                     say which there are

A campaign is a module of this folder that has NAME and `run`; all other modules are left alone:

    '''One line that says what the campaign proves.'''     # the first line of the docstring is shown by --list
    NAME = "unplug"                                         # lower case, words joined with -

    def run(report) -> bool:                                # True: nothing was found wrong
        cuts = report.sized(3_000)                          # a tenth of it with --size 0.1, at least 1
        chance = random.Random(report.seed)                 # one number reproduces a run
        report.say("3,000 cable cuts on real ptys")         # what is being done, printed at once
        report.fault("seed 7: 2 cards lost")                # something is wrong; the campaign goes on, and has failed
        report.figure("cable cuts", cuts)                   # a line of the table at the end; any int, float or text
        return True

A campaign has failed if it returns False, told of a fault or raised anything. It asks for nothing, leaves no process
and no file behind, and says in a fault which tool is missing and how to install it: nothing is skipped in silence.
"""
