"""Records with fields and defaults: `typing.NamedTuple` for a sixth of what defining one costs.

A hook defines more than a hundred and makes a few of some of them. The standard library compiles a
constructor for each that is defined; here it is compiled where many records are made. Imports
nothing that the interpreter has not loaded. To a type checker it is `typing.NamedTuple` itself.
So are the other names, for which modules of a hook would import `typing`: 3 ms.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any as Any
    from typing import ClassVar as ClassVar
    from typing import Generic as Generic
    from typing import NamedTuple as NamedTuple
    from typing import Protocol as Protocol
    from typing import Self as Self
    from typing import TypeVar as TypeVar
else:
    from _collections import _tuplegetter

    class _Unread:
        """Stands where a type checker alone reads."""

        def __class_getitem__(cls, _):
            return cls

    Any = Self = object
    ClassVar = Generic = Protocol = _Unread

    def TypeVar(_name, **_bounds):
        return object

    COMPILED_AT = 16  # records: compiling costs as much as making so many without

    class _RecordType(type):
        def __new__(cls, name, bases, body):
            if not getattr(bases[0], "_fields", ()):  # else it adds methods to a record
                fields = tuple(body.get("__annotations__", ()))
                body["_field_defaults"] = {one: body[one] for one in fields if one in body}
                body.update((one, _tuplegetter(at, None)) for at, one in enumerate(fields))
                body.update(_fields=fields, __match_args__=fields, __slots__=())
            return super().__new__(cls, name, bases, body)

        @property
        def __signature__(cls):
            from inspect import Parameter, Signature  # for what checks values by annotations

            found = ((one, cls._field_defaults.get(one, Parameter.empty)) for one in cls._fields)
            kind = Parameter.POSITIONAL_OR_KEYWORD
            return Signature([Parameter(name, kind, default=value) for name, value in found])

    class NamedTuple(tuple, metaclass=_RecordType):
        _made = 0

        def __new__(cls, *values, **named):
            defaults, fields = cls._field_defaults, cls._fields
            cls._made += 1
            if cls._made < COMPILED_AT:
                given = {**dict(zip(fields, values, strict=False)), **named}
                found = {**defaults, **given}
                if len(given) == len(values) + len(named) and found.keys() == set(fields):
                    return tuple.__new__(cls, map(found.get, fields))
            head = ", ".join(f"{one}=d[{one!r}]" if one in defaults else one for one in fields)
            made = f"lambda cls, {head}: new(cls, ({''.join(f'{one}, ' for one in fields)}))"
            cls.__new__ = eval(made, {"new": tuple.__new__, "d": defaults})
            return cls.__new__(cls, *values, **named)

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
            return made

        def _replace(self, **fields):
            made = self._make(map(fields.pop, self._fields, self))
            if fields:
                raise TypeError(f"{type(self).__name__} has no {', '.join(fields)}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            said = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({said})"

        def __getnewargs__(self):
            return tuple(self)
