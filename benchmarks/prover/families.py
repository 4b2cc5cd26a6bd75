"""The questions of the benchmark, by family: identities and falsehoods about shapes.

A line of a family is a template; ``{c}``, ``{d}``, … are filled with every listed combination of
constants. Behind ``|`` stand assumptions, separated by ``;``. All variables are >= 0.
"""

from __future__ import annotations

from itertools import product

from rlx.grammar.node import Node


class Case(Node):
    """One question: ``truth`` says whether it holds wherever it is defined."""

    family: str
    goal: str
    assume: tuple[str, ...]
    truth: bool


_PAIRS = {"c": (2, 4, 7), "d": (3, 16)}
_ONE = {"c": (2, 3, 8, 12)}
_NONE: dict[str, tuple[int, ...]] = {}

Templates = tuple[dict[str, tuple[int, ...]], str]

IDENTITIES: dict[str, tuple[Templates, ...]] = {
    "reshape": (
        (
            _NONE,
            """
            (a*b*c)//(a*b) == c
            a*b*c == c*(b*a)
            (a*b)//b*b == a*b
            (a*b*c)//(c*a)*a == b*a
            (n*m)//m == n
            (n*m*k) % (m*k) == 0
            (n*m + m)//m == n + 1
            (n*m + n*k)//(m + k) == n
            (b*s*h*d)//(b*s) == h*d
            (b*s*h*d)//(s*b*d) == h
            b*s*(h*d) == b*(s*h)*d
            (n + 1)*(n - 1) + 1 == n*n
            (n*(n + 1))//2*2 == n*n + n
            n*n - m*m == (n - m)*(n + m)
            (n*n + 2*n*m + m*m)//(n + m) == n + m
            (n*n - 1)//(n + 1) == n - 1
            (a*b + a*c)//a == b + c
            ((a*b)*(c*d))//((a*c)*b) == d
        """,
        ),
        (
            _ONE,
            """
            (n*{c})//{c} == n
            (n*{c}*m)//({c}*m) == n
            n*{c} % {c} == 0
            (n*m*{c})//n == {c}*m
            n//{c}*{c} == n | n % {c} == 0
            n//{c}*({c}*m) == n*m | n % {c} == 0
            (n*m)//{c}*{c} == n*m | n % {c} == 0
            (n*m)//{c} == n//{c}*m | n % {c} == 0
            (n + m)//{c} == n//{c} + m//{c} | n % {c} == 0
            b*n//{c}*{c} == b*n | n % {c} == 0
        """,
        ),
        (
            _PAIRS,
            """
            (n*{c}*{d})//({c}*{d}) == n
            (n*{c})*(m*{d})//({c}*{d}) == n*m
            n*{c}//{c}*{d} == {d}*n
            n//{c}//{d}*{d}*{c} == n | n % ({c}*{d}) == 0
            n//({c}*{d})*{d} == n//{c} | n % ({c}*{d}) == 0
        """,
        ),
    ),
    "tiling": (
        (
            _NONE,
            """
            (x % (a*b)) % b == x % b
            (x % (a*b))//b == (x//b) % a
            x//a//b == x//(a*b)
            (x//b//a)*(a*b) + (x//b % a)*b + x % b == x
            x//t*t + x % t == x
            (x//t*t)//t == x//t
            (x//t*t) % t == 0
            ((x + t - 1)//t*t) % t == 0
            (i*t + x % t)//t == i
            (i*t + x % t) % t == x % t
            (i*t*s + x % (t*s))//(t*s) == i
            (i*t + x % t)//(t*s) == i//s
            (x//a//b) == (x//b//a)
            x//(a*b)*a + (x//b) % a == x//b
            ((x//a) % b)*a + x % a == x % (a*b)
            (x % (a*b*c))//(b*c) == (x//(b*c)) % a
            (x % (a*b*c)) % (b*c) == x % (b*c)
            (x % (a*b*c)) % c == x % c
            (x//c) % b == (x % (b*c))//c
            x//(a*b*c) == x//a//b//c
        """,
        ),
        (
            _PAIRS,
            """
            (x % ({c}*{d})) % {d} == x % {d}
            (x % ({c}*{d}))//{d} == x//{d} % {c}
            x//{c}//{d} == x//({c}*{d})
            x//({c}*{d})*({c}*{d}) + x//{d} % {c}*{d} + x % {d} == x
            (i*{c} + x % {c})//({c}*{d}) == i//{d}
            (x//{c} % {d})*{c} + x % {c} == x % ({c}*{d})
            (x*{c} + {c} - 1)//({c}*{d}) == x//{d}
            (n*{c} + i)//{c} == n | i < {c}
            (n*t*{c} + i)//(t*{c}) == n | i < t*{c}
            (n*t + i)//t == n | i < t
        """,
        ),
    ),
    "ceildiv": (
        (
            _NONE,
            """
            (n + t - 1)//t*t == n + (-n) % t
            -((-n)//t) == (n + t - 1)//t
            (n + t - 1)//t == (n - 1)//t + 1
            ((n + a - 1)//a + b - 1)//b == (n + a*b - 1)//(a*b)
            (n*t + t - 1)//t == n
            (n*m + t*m - 1)//(t*m) == ((n*m + m - 1)//m + t - 1)//t
            (n + t - 1)//t >= n//t
            (n + t - 1)//t - n//t <= 1
            (n + t - 1)//t*t >= n
            (n + t - 1)//t*t < n + t
            (n + t - 1)//t <= n
            min(n, t) <= t*((n + t - 1)//t)
        """,
        ),
        (
            {"c": (2, 3, 4, 16, 128)},
            """
            (n + {c} - 1)//{c}*{c} == n + (-n) % {c}
            -((-n)//{c}) == (n + {c} - 1)//{c}
            (n + {c} - 1)//{c} == (n - 1)//{c} + 1
            (n + {c} - 1)//{c}*{c} >= n
            (n + {c} - 1)//{c}*{c} - n < {c}
            (n + {c} - 1)//{c} == n//{c} | n % {c} == 0
            (n*{c} + {c} - 1)//{c} == n
            (n + {c} - 1)//{c} == n//{c} + 1 | n % {c} != 0
            (n + {c} - 1)//{c} == n//{c} + min(n % {c}, 1)
            ((n + {c} - 1)//{c}*{c} + {c} - 1)//{c} == (n + {c} - 1)//{c}
        """,
        ),
        (
            _PAIRS,
            """
            ((n + {c} - 1)//{c} + {d} - 1)//{d} == (n + {c}*{d} - 1)//({c}*{d})
            (n*{d} + {c}*{d} - 1)//({c}*{d}) == (n + {c} - 1)//{c}
        """,
        ),
    ),
    "conv and pool": (
        (
            _NONE,
            """
            (n + 2*p - k)//s + 1 == (n + 2*p - k + s)//s
            (n + 2*1 - 3)//1 + 1 == n
            (n + 2*p - (2*p + 1))//1 + 1 == n
            (n + 2*p - d*(k - 1) - 1)//s + 1 == (n + 2*p - d*k + d - 1)//s + 1
            (n*s - s)//s + 1 == n
            (n*s - k)//s + 1 == n | k >= 1; k <= s
            ((n - 1)*s + k - k)//s + 1 == n
            (n + (k - 1) - k)//1 + 1 == n
            (n + d*(k - 1) - d*(k - 1) - 1)//1 + 1 == n
            (n - k)//k + 1 == n//k
            (n + 2*k - 1 - 2*k)//1 + 1 == n
            (n - 1)*s - 2*p + k + 2*p == (n - 1)*s + k
            (((n - 1)*s + k) - k)//s + 1 == n
        """,
        ),
        (
            {"s": (1, 2, 3, 4)},
            """
            (n + 2*1 - 3)//{s} + 1 == (n - 1)//{s} + 1
            (n - {s})//{s} + 1 == n//{s}
            (n*{s} - {s})//{s} + 1 == n
            (n + {s} - 1 - {s} + {s})//{s} == (n - 1)//{s} + 1
            (({s}*n + 2*1 - 3)//{s} + 1)*{s} == {s}*n | n >= 1
            (n - 1)//{s} + 1 == (n + {s} - 1)//{s}
            ((n - 1)//{s} + 1)*{s} - n < {s}
            (n//{s} - 1)//1 + 1 == n//{s}
        """,
        ),
        (
            {"s": (2, 4), "k": (3, 5)},
            """
            (n + 2*({k}//2) - {k})//{s} + 1 == (n - 1)//{s} + 1
            ({s}*n + 2*({k}//2) - {k})//{s} + 1 == n
            ((n - {k})//{s} + 1)*{s} <= n - {k} + {s}
            (n - {k})//1 + 1 == n - {k} + 1
            ((n + 2*({k}//2) - {k})//{s} + 1)*{s} >= n
        """,
        ),
    ),
    "two-level conv": (
        (
            {"s": (2, 3), "t": (2, 4)},
            """
            ((n - 1)//{s} + 1 - 1)//{t} + 1 == (n - 1)//({s}*{t}) + 1
            (n//{s})//{t} == n//({t}*{s})
            ((n + {s} - 1)//{s} + {t} - 1)//{t} == (n - 1)//({s}*{t}) + 1
            ((n*{s}*{t})//{s})//{t} == n
            ((n*{s}*{t} - 1)//{s} + 1 - 1)//{t} + 1 == n
            (n//{s}//{t})*({s}*{t}) == n | n % ({s}*{t}) == 0
        """,
        ),
    ),
    "splits and concat": (
        (
            _NONE,
            """
            n//2 + (n - n//2) == n
            n - n//2 == (n + 1)//2
            n//3 + (n + 1)//3 + (n + 2)//3 == n
            (i + 1)*n//k - i*n//k + i*n//k == (i + 1)*n//k
            min(n, k) + max(n - k, 0) == n
            (n - m) + m == n
            max(n, m) - min(n, m) == max(n - m, m - n)
            min(n, m) + max(n, m) == n + m
            max(n, m) + k == max(n + k, m + k)
            max(min(n, m), m) == m
            min(max(n, m), m) == m
            min(n, m) == min(m, n)
            min(min(n, m), k) == min(n, min(m, k))
            max(max(n, m), k) == max(n, max(m, k))
            max(n, max(m, n)) == max(m, n)
            min(n - 1, m - 1) + 1 == min(n, m)
            k*max(n, m) == max(k*n, k*m)
            max(n, 1)*m >= m
            min(n, m)*max(n, m) == n*m
            max(min(n, k), min(m, k)) == min(max(n, m), k)
            (e - b) + b == e
            max(e - b, 0) + b == e | b <= e
            max(min(e, n) - min(b, n), 0) == min(e, n) - b | b <= e; b <= n
            (e - b + s - 1)//s == (e - b - 1)//s + 1
        """,
        ),
        (
            {"c": (2, 3, 4, 8)},
            """
            n//{c}*({c} - 1) + n//{c} == n | n % {c} == 0
            n//{c} + (n - n//{c}) == n
            (n + n*({c} - 1))//{c} == n
            n//{c} + ({c} - 1)*(n//{c}) + n % {c} == n
            max(n, {c}) >= {c}
            min(n//{c}*{c}, n) == n//{c}*{c}
            max(n//{c}*{c}, n) == n
            min(n, (n + {c} - 1)//{c}*{c}) == n
            min(n % {c}, {c}) == n % {c}
            max(n, {c}) + min(n, {c}) == n + {c}
            ({c}*n)//{c} - n == 0
        """,
        ),
        (
            {"c": (1, 2, 3)},
            """
            (n + {c})//2 + (n + {c} + 1)//2 == n + {c}
            (n + 2*{c})//2 - n//2 == {c}
            min(n + {c}, m + {c}) - {c} == min(n, m)
            max(n - {c}, 0) + {c} == max(n, {c})
        """,
        ),
    ),
    "padding": (
        (
            _NONE,
            """
            (n + (-n) % t) % t == 0
            (n + (-n) % t)//t == (n + t - 1)//t
            ((n + t - 1)//t*t + t - 1)//t*t == (n + t - 1)//t*t
            (-n) % t == (t - n % t) % t
            (n + (t - n % t) % t) % t == 0
            (n + (-n) % t) + (-(n + (-n) % t)) % t == n + (-n) % t
            (n % t + (-n) % t) % t == 0
            n + (-n) % t >= n
            n + (-n) % t < n + t
            (n + p + q) - p - q == n
            (-n) % t == (n + t - 1)//t*t - n
            (-(-n) % t) % t == n % t
            (-n) % t + n//t*t + n % t == (n + t - 1)//t*t
        """,
        ),
        (
            {"c": (2, 4, 8, 64)},
            """
            (n + (-n) % {c}) % {c} == 0
            (n + (-n) % {c})//{c} == (n + {c} - 1)//{c}
            (-n) % {c} == ({c} - n % {c}) % {c}
            ((n + {c} - 1)//{c}*{c} + {c} - 1)//{c}*{c} == (n + {c} - 1)//{c}*{c}
            n + ({c} - n % {c}) % {c} == (n + {c} - 1)//{c}*{c}
            (n + ({c} - n % {c})) % {c} == 0
            (n % {c} + (-n) % {c}) % {c} == 0
            n + (-n) % {c} == n | n % {c} == 0
            (n*m + (-(n*m)) % {c}) % {c} == 0
        """,
        ),
    ),
    "mod of sums": (
        (
            _NONE,
            """
            (n + k*t) % t == n % t
            (n - k*t) % t == n % t
            (n % t + m % t) % t == (n + m) % t
            (n % t + m) % t == (n + m) % t
            ((n % t)*(m % t)) % t == (n*m) % t
            ((n % t)*m) % t == (n*m) % t
            (n - m) % t == (n % t - m % t) % t
            (n*n) % t == (n % t)*(n % t) % t
            (n % t) % t == n % t
            (k*n) % (k*t) == k*(n % t)
            (n*m) % m == 0
            (n + m + k) % t == (n % t + m % t + k % t) % t
            (n + t) % t == n % t
            (n + t)//t == n//t + 1
            (n - t)//t == n//t - 1
            (n + k*t)//t == n//t + k
            n % t < t
            n % t <= n
            (n + m) % t <= n % t + m % t
        """,
        ),
        (
            {"c": (2, 3, 5, 12)},
            """
            (n + {c}*m) % {c} == n % {c}
            (n % {c} + m % {c}) % {c} == (n + m) % {c}
            ((n % {c})*(m % {c})) % {c} == (n*m) % {c}
            (n*n - n) % 2 == 0
            (n + {c})//{c} == n//{c} + 1
            (n - m) % {c} == (n % {c} - m % {c}) % {c}
            (-n) % {c} + n % {c} <= {c}
            (n % {c} + {c} - 1) // {c} <= 1
            ({c}*n + m) % {c} == m % {c}
            (n*{c} + m*{c}) % {c} == 0
        """,
        ),
    ),
    "unflattening": (
        (
            _NONE,
            """
            ((i*b + j)//b) == i | j < b
            (i*b + j) % b == j | j < b
            ((i*b + j)*c + k)//(b*c) == i | j < b; k < c
            ((i*b + j)*c + k)//c % b == j | j < b; k < c
            ((i*b + j)*c + k) % c == k | k < c
            (x//(b*c))*(b*c) + ((x//c) % b)*c + x % c == x
            ((x//(b*c))*b + (x//c) % b)*c + x % c == x
            (x//(b*c)) % a == (x//c//b) % a
            x//(b*c) < a | x < a*b*c
            x//b < a | x < a*b
            i*b + j < a*b | i < a; j < b
            (i*b + j)*c + k < a*b*c | i < a; j < b; k < c
            (x % (b*c))//c*c + x % c == x % (b*c)
            x//b*b + x % b < a*b | x < a*b
        """,
        ),
        (
            {"b": (3, 8), "c": (4, 5)},
            """
            ((i*{b} + j)*{c} + k)//({b}*{c}) == i | j < {b}; k < {c}
            ((i*{b} + j)*{c} + k)//{c} % {b} == j | j < {b}; k < {c}
            (x//({b}*{c}))*({b}*{c}) + ((x//{c}) % {b})*{c} + x % {c} == x
            (x % ({b}*{c}))//{c} == (x//{c}) % {b}
            x//{b} < n | x < n*{b}
            x//({b}*{c}) < n | x < n*{b}*{c}
            (x//{c}) % {b} < {b}
        """,
        ),
    ),
    "divisibility": (
        (
            _NONE,
            """
            n*(n + 1) % 2 == 0
            n*(n + 1)*(n + 2) % 6 == 0
            n*(n + 1)*(2*n + 1) % 6 == 0
            (n*n*n - n) % 3 == 0
            (n*n) % 4 <= 1
            n*(n + 1)//2 + (n + 1) == (n + 1)*(n + 2)//2
            n*(n - 1)//2 + n == n*(n + 1)//2
            (n + m) % h == 0 | n % h == 0; m % h == 0
            (n*m) % h == 0 | n % h == 0
            (n - m) % h == 0 | n % h == 0; m % h == 0
            n//h*h == n | n % h == 0
            (n*m)//h == (n//h)*m | n % h == 0
            d//h*h*b == b*d | d % h == 0
            d//h//g*g*h == d | d % (h*g) == 0
            (b*s*d)//(b*s*h) == d//h | d % h == 0
            d//(h*g)*g == d//h | d % (h*g) == 0
            (n + k)//h == n//h + k//h | k % h == 0
            (n*d + d)//h == (n + 1)*(d//h) | d % h == 0
        """,
        ),
        (
            {"c": (2, 4, 6), "d": (2, 3)},
            """
            n % {c} == 0 | n % ({c}*{d}) == 0
            (n//{c}) % {d} == 0 | n % ({c}*{d}) == 0
            (n*m) % ({c}*{d}) == 0 | n % {c} == 0; m % {d} == 0
            (n + m) % {c} == m % {c} | n % {c} == 0
            n//{c}*{c} + {c} == n + {c} | n % {c} == 0
            (n + {c})//{c} == n//{c} + 1 | n % {d} == 0
            (n*{d})//({c}*{d}) == n//{c}
            n//{c} >= n//({c}*{d})
        """,
        ),
    ),
    "order": (
        (
            _NONE,
            """
            n//t <= n
            n*m >= n | m >= 1
            n//t*t <= n
            n < (n//t + 1)*t
            n//a >= n//(a*b)
            n//t <= m//t | n <= m
            n - n//t >= 0
            (n + 1)//t >= n//t
            (n + 1)//t <= n//t + 1
            n*m + k >= k
            n + m >= max(n, m)
            min(n, m) <= n
            n*n >= n
            n*m <= n*k | m <= k
            n*n + m*m >= 2*n*m
            (n + m)//2 <= max(n, m)
            (n + m)//2 >= min(n, m)
            n < m*t | n//t < m
            n//t < m | n < m*t
            a <= c | a <= b; b <= c
            a + 1 <= c | a < b; b <= c
            a*k < c*k | a < c; k >= 1
        """,
        ),
        (
            {"c": (2, 3, 8)},
            """
            n//{c} <= n
            n//{c}*{c} <= n
            n - n//{c}*{c} < {c}
            n % {c} <= n
            (n + {c})//{c} >= 1
            n >= {c}*m | n//{c} >= m
            n//{c} >= m | n >= {c}*m
            n//{c} + m//{c} <= (n + m)//{c}
            (n + m)//{c} <= n//{c} + m//{c} + 1
            n % {c} + n//{c} <= n
        """,
        ),
    ),
    "attention": (
        (
            _NONE,
            """
            b*s*(3*(h*d))//3 == b*s*h*d
            (h*d)//h == d
            b*(s + k)*h*d - b*k*h*d == b*s*h*d
            (s + k) - s == k
            (s + 1)*h == s*h + h
            3*h*d - 2*(h*d) == h*d
            h//g*g == h | h % g == 0
            (h//g)*(g*d) == h*d | h % g == 0
            b*h*s*s == b*h*(s*s)
            (b*h)*(s*d)//(b*s) == h*d
            max(s - w, 0) + min(s, w) == s
            (s + p - 1)//p*p >= s
            ((s + p - 1)//p)*p - s <= p - 1
            s*(s + 1)//2 <= s*s
        """,
        ),
        (
            {"h": (8, 12), "d": (64, 128)},
            """
            b*s*{h}*{d}//(b*s) == {h}*{d}
            (s*{h}*{d})//{d}//{h} == s
            (b*s*3*{h}*{d})//({h}*{d}) == 3*b*s
            (s*{d} + {d} - 1)//{d} == s
            (b*{h})*(s*{d}) == b*s*({h}*{d})
            n//{d}*{d}*{h} == n*{h} | n % {d} == 0
            (x % ({h}*{d}))//{d} < {h}
            (x//{d}) % {h} == (x % ({h}*{d}))//{d}
        """,
        ),
    ),
    "truncation and choice": (
        (
            _NONE,
            """
            tdiv(n, m) == n//m
            tmod(n, m) == n % m
            tdiv(-n, m) == -(n//m)
            tmod(-n, m) == -(n % m)
            tdiv(n*m, m) == n
            tdiv(n, m)*m + tmod(n, m) == n
            select(n < m, n, m) == min(n, m)
            select(n > m, n, m) == max(n, m)
            select(n == 0, 0, n) == n
            select(n % t == 0, n//t, n//t + 1) == (n + t - 1)//t
            select(n < t, n, n % t) % t == n % t
            select(n >= 0, n, -n) == n
            max(n, -n) == n
            select(n < m, m - n, n - m) == max(n, m) - min(n, m)
            n < m or n >= m
            not (n < m and m < n)
            (n < m) == (n + 1 <= m)
            n == m or n < m or n > m
            n <= m or m <= n
        """,
        ),
        (
            {"c": (2, 5, 8)},
            """
            tdiv(n, {c}) == n//{c}
            tdiv(-n, {c}) == -(n//{c})
            tmod(n, {c}) == n % {c}
            tdiv(n + {c} - 1, {c}) == -((-n)//{c})
            select(n % {c} == 0, n//{c}, n//{c} + 1) == (n + {c} - 1)//{c}
            n//{c} == select(n < {c}, 0, n//{c})
            n//-{c} == -((n + {c} - 1)//{c})
            n % -{c} == -((-n) % {c})
        """,
        ),
    ),
}

FALSEHOODS: dict[str, tuple[Templates, ...]] = {
    "reshape": (
        (
            _NONE,
            """
            n == m
            n*m == n + m
            (n*m)//k == n
            (n*m)//k*k == n*m
            n*m//m == m
            (n*n - 1)//(n + 1) == n
            (a*b*c)//(a*b) == a
            b*s*h == b*s*d
            n*n == n
            (n + m)*(n + m) == n*n + m*m
        """,
        ),
        (
            _ONE,
            """
            n//{c}*{c} == n
            (n*m)//{c} == n//{c}*m
            n % {c} == 0
            (n + m)//{c} == n//{c} + m//{c}
            (n*m) % {c} == 0
        """,
        ),
        (
            _PAIRS,
            """
            n//{c}//{d}*({c}*{d}) == n | n % {c} == 0
            n*{c} == n*{d}
            (n*{c})//{d} == n//{d}*{c}
        """,
        ),
    ),
    "tiling": (
        (
            _NONE,
            """
            (x % (a*b)) % b == x % a
            (x % (a*b))//b == x//b
            x//(a + b) == x//a//b
            (i*t + x)//t == i
            x//t*t == x
            (x//a) % b == (x % a)//b
            x//(a*b) == x//b
            (x + t)//t == x//t
        """,
        ),
        (
            _PAIRS,
            """
            (x % ({c}*{d})) % {d} == x % {c}
            (i*{c} + j)//{c} == i | j <= {c}
            (x//{c}) % {d} == (x//{d}) % {c}
            x//{c} % {d} == x//{c}
        """,
        ),
    ),
    "ceildiv": (
        (
            _NONE,
            """
            (n + t - 1)//t == n//t + 1
            (n + t)//t == (n + t - 1)//t
            (n + t - 1)//t*t == n
            -(n//t) == (-n)//t
            ((n + a - 1)//a + b - 1)//b == (n + a*b)//(a*b)
            (n + t - 1)//t*t <= n
        """,
        ),
        (
            {"c": (2, 16, 100, 1024)},
            """
            (n + {c} - 1)//{c} == n//{c}
            (n + {c} - 1)//{c} == n//{c} + 1
            (n + {c} - 2)//{c} == (n + {c} - 1)//{c}
            (n + {c} - 1)//{c}*{c} == n
            (n + {c})//{c}*{c} == n + (-n) % {c}
        """,
        ),
    ),
    "conv and pool": (
        (
            _NONE,
            """
            (n + 2*p - k)//s + 1 == n
            (n + 2*p - k)//s + 1 == (n + 2*p - k + 1)//s
            (n - 1)//s + 1 == n//s
            (n*s - k)//s + 1 == n
            (n*s - k)//s + 1 == n | k <= s
            (n - k)//s == (n - k + 1)//s
        """,
        ),
        (
            {"s": (2, 3, 4)},
            """
            (n + 2*1 - 3)//{s} + 1 == n//{s}
            ((n - 1)//{s} + 1)*{s} == n
            (n - {s})//{s} + 1 == (n - 1)//{s} + 1
            (n//{s} - 1)//{s} + 1 == n//({s}*{s})
        """,
        ),
    ),
    "splits and concat": (
        (
            _NONE,
            """
            n//2 + n//2 == n
            min(n, m) == n
            max(n, m) == n + m
            max(n - m, 0) == n - m
            max(n, m) - min(n, m) == n - m
            n//3 + n//3 + n//3 == n | n % 2 == 0
            max(min(n, m), k) == min(max(n, m), k)
            min(n, m) + min(n, k) == min(n, m + k)
            min(n, 1000) == n
            n - n//2 == n//2
        """,
        ),
        (
            {"c": (2, 5, 64, 4097)},
            """
            n//{c} + (n + 1)//{c} == 2*(n//{c})
            min(n, {c}) == n
            max(n, {c}) == {c}
            max(n - {c}, 0) + {c} == n
            n < {c}
        """,
        ),
    ),
    "padding": (
        (
            _NONE,
            """
            (n + (-n) % t)//t == n//t
            n + (-n) % t == n
            (n + t) % t == 0
            (-n) % t == t - n % t
            (n + p) % t == n % t
            n % t + (-n) % t == t
        """,
        ),
        (
            {"c": (2, 8, 77)},
            """
            (n + {c} - n % {c}) == (n + {c} - 1)//{c}*{c}
            (-n) % {c} == {c} - n % {c}
            n + (-n) % {c} == n
            (n*m + (-n) % {c}) % {c} == 0
        """,
        ),
    ),
    "mod": (
        (
            _NONE,
            """
            (n + m) % t == n % t + m % t
            (n*m) % t == (n % t)*(m % t)
            (n*m) % (k*m) == n % k
            n % t == n
            (n + k) % t == n % t
            n % a % b == n % b % a
            (n*n*n) % 6 == n % 6 + 1
            n*(n + 1) % 4 == 0
            n*n % 4 == n % 4
            (k*n) % t == k*(n % t)
        """,
        ),
        (
            {"c": (3, 10, 256)},
            """
            (n + m) % {c} == n % {c} + m % {c}
            n % {c} == n
            (n*m) % {c} == (n % {c})*(m % {c})
            n % {c} < {c} - 1
            n % (2*{c}) == n % {c}
        """,
        ),
    ),
    "order and choice": (
        (
            _NONE,
            """
            n*m >= n
            n < n*m
            n <= m
            n//t < m | n < m + t
            i*b + j < a*b | i < a
            x//b < a | x <= a*b
            n*n > n
            n*m < n*k | m < k
            select(n < m, n, m) == n
            tdiv(-n, m) == (-n)//m
            tmod(-n, m) == (-n) % m
            n < m or m < n
            (n < m) == (n <= m)
            a < c | a <= b; b <= c
            n != 4099
            n*m != 10403
        """,
        ),
        (
            {"c": (2, 3, 8)},
            """
            tdiv(-n, {c}) == (-n)//{c}
            n//{c} + m//{c} == (n + m)//{c}
            n//{c} >= m | n >= m
            n//-{c} == -(n//{c})
            n*n >= {c}*n
        """,
        ),
    ),
}


def cases() -> list[Case]:
    """All questions, each once."""
    found: dict[tuple[str, tuple[str, ...]], Case] = {}
    for truth, table in ((True, IDENTITIES), (False, FALSEHOODS)):
        for family, blocks in table.items():
            for constants, text in blocks:
                for case in _filled(family, constants, text, truth):
                    found.setdefault((case.goal, case.assume), case)
    return list(found.values())


def _filled(
    family: str, constants: dict[str, tuple[int, ...]], text: str, truth: bool
) -> list[Case]:
    lines = [line.strip() for line in text.strip().splitlines()]
    result: list[Case] = []
    for line in lines:
        for values in product(*constants.values()):
            chosen = dict(zip(constants, values, strict=True))
            goal, _, assumed = line.format(**chosen).partition("|")
            facts = tuple(part.strip() for part in assumed.split(";") if part.strip())
            result.append(Case(family, goal.strip(), facts, truth))
    return result
