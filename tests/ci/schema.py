"""Holds manifests against docs/manifest.schema.json: schema.py SCHEMA MANIFEST...

Each manifest is valid and has no other keys; each key of the schema is in some manifest. Knows the keywords that the
schema uses; where there is the package jsonschema, that must agree."""
import json
import re
import sys

KINDS = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
KEYWORDS = {"description", "type", "required", "properties", "items", "enum", "const", "pattern", "minimum", "minItems",
            "maxItems", "$ref", "$schema", "$defs", "title"}


def is_kind(value, kind):
    """Whether a value is of a kind of JSON; true is no integer."""
    return isinstance(value, KINDS[kind]) and (kind != "integer" or not isinstance(value, bool))


def faults(root, schema, value, path, seen):
    """What is wrong with a value, as texts; keys that it has are added to `seen`."""
    if unknown := schema.keys() - KEYWORDS:
        return [f"{path}: the test knows no {unknown}"]
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return faults(root, root["$defs"][name], value, path, seen)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{path}: {value!r} is none of {kinds}"]
    wrong = []
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{path}: {value!r} is not allowed")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        wrong.append(f"{path}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, int) and value < schema.get("minimum", value):
        wrong.append(f"{path}: {value} is too small")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            wrong.append(f"{path}: {len(value)} items")
        for i, item in enumerate(value):
            wrong += faults(root, schema["items"], item, f"{path}[{i}]", seen)
    if isinstance(value, dict):
        known = schema["properties"]
        wrong += [f"{path}: lacks {key}" for key in schema["required"] if key not in value]
        wrong += [f"{path}: {key} is not in the schema" for key in value if key not in known]
        for key in value.keys() & known.keys():
            seen.add(id(known[key]))
            wrong += faults(root, known[key], value[key], f"{path}.{key}", seen)
    return wrong


def unseen(schema, path, seen):
    """Keys of a schema that no value had."""
    for key, inner in schema.get("properties", {}).items():
        if id(inner) not in seen:
            yield f"{path}.{key}: in no manifest"
        yield from unseen(inner, f"{path}.{key}", seen)
    for name, inner in schema.get("$defs", {}).items():
        yield from unseen(inner, name, seen)


def main(schema_path, *paths):
    with open(schema_path) as file:
        schema = json.load(file)
    seen, wrong = set(), []
    for path in paths:
        with open(path) as file:
            manifest = json.load(file)
        wrong += faults(schema, schema, manifest, path, seen)
        try:
            import jsonschema
            jsonschema.validate(manifest, schema)
        except ImportError:
            pass
    wrong += unseen(schema, "manifest", seen)
    broken = faults(schema, schema, {**manifest, "format": 2, "more": [], "images": []}, "broken", seen)
    if len(broken) != 3:
        wrong.append(f"a broken manifest has these faults: {broken}")
    print("\n".join(wrong) or f"{len(paths)} manifests are as the schema says")
    return bool(wrong)


sys.exit(main(*sys.argv[1:]))
