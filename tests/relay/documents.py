"""The programs of Relay's introduction, as it writes them; those of its pictures in its own words."""

SHARED = """fn (%x) {
  %1 = log(%x)
  %2 = add(%1, %1)
  %2
}
"""

CALLS = """
   def @muladd(%x, %y, %z) {
     %1 = mul(%x, %y)
     %2 = add(%1, %z)
     %2
   }
   def @myfunc(%x) {
     %1 = @muladd(%x, 1, 2)
     %2 = @muladd(%1, 2, 3)
     %2
   }
"""

RECURSION = """
  def @myfunc(%x) {
    %1 = equal(%x, 1)
     if (%1) {
        %x
     } else {
       %2 = sub(%x, 1)
       %3 = @myfunc(%2)
        %4 = add(%3, %3)
        %4
    }
  }
"""

LETS = """fn (%x) {
  let %v1 = log(%x)
  let %v2 = add(%v1, %v1)
  %v2
}
"""

SCOPE = """fn (%x, %c) {
  %1 = log(%x)
  %2 = if (%c) {
    add(%1, %1)
  } else {
    multiply(%1, %1)
  }
  %2
}
"""

CLOSURE = """
  fn (%x) {
    %1 = log(%x)
    %2 = fn(%y) {
      add(%y, %1)
    }
    %2
  }
"""

ALL = (SHARED, CALLS, RECURSION, LETS, SCOPE, CLOSURE)
