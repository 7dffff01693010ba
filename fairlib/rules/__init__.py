"""Rules: what a rule may ask for, and how it becomes machine code.

``fl.simulate(game, fl.ucb1(), 1000)`` runs this function in ``baselines/classic.py``::

    @rule
    def ucb1_rule(seen, p, available=None):
        ...

1. `rule` (``rule.py``) reads the names of its arguments. `Policy` makes a `BoundRule` of it and its settings
   (``bound_rule.py``), which refuses a missing setting, an unknown one, and ``seen.count`` where ``seen`` has no
   ``count``.
2. ``core/policy.py`` says how the engine calls the rule of a policy: a `CallSignature` (``signature.py``), with the
   arrays that there are, their types, and what each name stands for. There are other signatures for policies with
   contexts, and for draws, delays, metrics and merit functions.
3. A `Layout` (``layout.py``) gives each setting and each piece of memory its place in two arrays, ``params`` and
   ``state``, and writes a function that takes the engine's arrays and calls the rule by its arguments' names. A learner
   or a merit function among the settings adds functions of its own.
4. The engine does not pass arrays one by one. It passes the address of an argument block (``argument_block.py``), in
   which the address and the shape of each array are written. The text takes from it what the rule needs. No code can
   write to settings and to what has been seen. For UCB1::

       def flat(block, t, rng):
           selected = read_only(int_1d(block, 2))
           observed = read_only(int_1d(block, 3))
           total = read_only(float_1d(block, 4))
           p = float_1d(block, 11)
           return as_action(function(
               Seen(t, selected, observed, total),
               p,
               None,
           ))

   ``function`` is the rule, and `as_action` turns what the rule returns into an arm, or into -1 if the rule filled
   ``p``. The last argument is ``available``. Where all arms are always there, a rule that says ``available=None`` is
   given None, and Numba leaves out what the rule does for absences. Where arms come and go, the text has
   ``available``. In plain Python the same call runs with the arrays as arguments:
   ``print(fl.ucb1().bound_rule.text)``.
5. `compile_text` (``jit.py``) writes the text into a module beside the machine code, imports the functions that it
   calls by their names, and has Numba compile it. The machine code lies in a folder that is named by the stamp of the
   packages that are compiled: an edit in one of them compiles all anew, an edit of a figure nothing. A reader's rule
   may be changed in a notebook at any time. So it is copied, with all functions that it calls and all values that they
   find as they are now, and compiled afresh in each process, and again when any of these has changed.
6. `play_rounds` (``engine/loops.py``) is compiled once for all policies, because the functions that it calls have the
   same types for all policies. It takes the addresses of these functions and one named tuple, `ArmsRun`, whose fields
   determine the call, Numba's types and the translator's types.
7. For the pages, ``pages/translate.py`` makes JavaScript from the same texts and from `play_rounds` itself.
"""
