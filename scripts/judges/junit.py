#!/usr/bin/env python3
"""Makes JUnit's XML, which CI systems show as tests, of what the referee says as JSON.

    referee check --json submissions/ | scripts/judges/junit.py > checks.xml
    scripts/judges/junit.py exam/grades/grades.json > grades.xml
    referee hunt --json mybot.py | scripts/judges/junit.py > hunt.xml

A bot is a test suite; a check, a rung or a finding is a test. Advice that a bot does not follow is not a failure.
"""

import json
import re
import sys
from xml.etree import ElementTree as xml


def of_check(bot):
    """A line of `referee check --json`."""
    if "refused" in bot:
        yield "is a bot", "failure", bot["refused"], ""
    for check in bot["checks"]:
        if check["ok"] is None:
            yield check["name"], "skipped", check["detail"] or "not checked", ""
        elif check["ok"] or not check["required"]:
            yield check["name"], None, "", check["detail"]
        else:
            fix = "\n".join(filter(None, [check["fix"], check["reproduce"]]))
            yield check["name"], "failure", check["detail"], fix


def of_grade(grade):
    """A grade of `grades.json`."""
    if grade.get("problem"):
        yield "can play", "failure", grade["problem"], ""
    for rung in grade["rungs"]:
        kind = {"passed": None, "not-played": "skipped"}.get(rung["verdict"], "failure")
        points = f"{rung['verdict']}: {rung['points']} of {rung['most_points']} points; {rung['requirement']}"
        yield rung["rung"], kind, points, points


def of_hunt(hunt):
    """What `referee hunt --json` says."""
    if not hunt["findings"]:
        yield "hunt", None, "", f"nothing found in {hunt['questions']} questions, which is no proof"
    for found in hunt["findings"]:
        what = found["problem"] or f"{found['answer']}: {found['before']} to {found['after']}"
        yield f"{found['kind']} at {found['question']}", "failure", what, found["reproduce"]


def suites(text):
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict) and "grades" in whole:
        return [(grade["name"], list(of_grade(grade))) for grade in whole["grades"]]
    if isinstance(whole, dict) and "findings" in whole:
        return [(whole["bot"], list(of_hunt(whole)))]
    bots = map(json.loads, filter(str.strip, text.splitlines()))
    return [(bot["bot"], list(of_check(bot))) for bot in bots]


def plain(text):
    """Without the characters that XML forbids."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text or "")


def main():
    text = open(sys.argv[1], encoding="utf-8").read() if len(sys.argv) > 1 else sys.stdin.read()
    root = xml.Element("testsuites", name="referee")
    for bot, tests in suites(text):
        count = {kind: str(sum(test[1] == kind for test in tests)) for kind in ("failure", "skipped")}
        suite = xml.SubElement(
            root, "testsuite", name=plain(bot), tests=str(len(tests)), failures=count["failure"], errors="0",
            skipped=count["skipped"],
        )
        for name, kind, message, more in tests:
            case = xml.SubElement(suite, "testcase", classname=plain(bot), name=plain(name))
            if kind:
                xml.SubElement(case, kind, message=plain(message)).text = plain(more)
            elif more:
                xml.SubElement(case, "system-out").text = plain(more)
    xml.indent(root) if hasattr(xml, "indent") else None
    sys.stdout.buffer.write(xml.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


main()
