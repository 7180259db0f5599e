"""Java options of a user who wrote them for another Java: which are left out, and which of ours give way.

Options that Java has removed are known from a table; what the table does not know, the JVM itself names when it
refuses to start.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from legacy_mm.base.errors import HostError

_OURS = ("-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:-UsePerfData", "-Djava.awt.headless=true", "-Xms32m", "-Xmn12m")
"""The flags for a driver that needs 30 MB of heap; Java's default start size, on a big host, touches 100 MB more."""
_OUR_HEAP = "-Xmx512m"
_OUR_COLLECTOR = "-XX:+UseSerialGC"
_COLLECTOR = re.compile(r"-XX:\+Use(?:Serial|Parallel|ParallelOld|G1|Z|Shenandoah|Epsilon|ConcMarkSweep|ParNew)GC")
_HEAP = re.compile(r"-Xm[sx].*|-XX:(?:Max|Initial)HeapSize=.*|-XX:(?:Max|Min|Initial)RAM.*")
_MAXIMUM_HEAP = re.compile(r"-Xmx.*|-XX:MaxHeapSize=.*")

# The release that removed it -> names; some were taken without effect for a few releases more.
_REMOVED = {
    9: "PrintGCDateStamps PrintGCTimeStamps PrintGCApplicationStoppedTime PrintGCApplicationConcurrentTime "
    "PrintGCCause PrintTenuringDistribution PrintHeapAtGC PrintAdaptiveSizePolicy PrintPromotionFailure "
    "PrintReferenceGC "
    "UseGCLogFileRotation NumberOfGCLogFiles GCLogFileSize UseFastAccessorMethods UseSplitVerifier UseStringCache "
    "-Xbootclasspath/p -Djava.endorsed.dirs -Djava.ext.dirs -Xincgc",
    10: "UseParNewGC -d64 -d32",
    11: "UnlockCommercialFeatures UseCGroupMemoryLimitForHeap",
    12: "AggressiveOpts",
    14: "UseConcMarkSweepGC CMSClassUnloadingEnabled CMSScavengeBeforeRemark CMSParallelRemarkEnabled "
    "CMSIncrementalMode CMSConcurrentMTEnabled CMSInitiatingOccupancyFraction UseCMSInitiatingOccupancyOnly "
    "CMSIncrementalPacing CMSPermGenSweepingEnabled CMSParallelInitialMarkEnabled CMSEdenChunksRecordAlways "
    "CMSMaxAbortablePrecleanTime CMSWaitDuration CMSFullGCsBeforeCompaction "
    "UseCMSCompactAtFullCollection PrintFLSStatistics",
    15: "UseParallelOldGC",
    17: "PermSize MaxPermSize",
    18: "UseBiasedLocking",
    24: "-Djava.security.manager",
}
_GONE_IN = {name: release for release, names in _REMOVED.items() for name in names.split()}

_NAMED = re.compile(
    r"""(?:Unrecognized|Improperly\ specified)\ VM\ option\ '(?P<flag>[^']+)'
      | VM\ option\ '(?P<locked>[^']+)'\ is\ (?:experimental|diagnostic|develop)
      | Unrecognized\ option:\ (?P<word>\S+)
      | ^(?P<start>-\S+?)\ is\ (?:no\ longer\ a\ supported\ option|not\ supported)
      | (?P<collectors>Multiple\ garbage\ collectors\ selected|Conflicting\ collector)""",
    re.VERBOSE | re.MULTILINE,
)


_ASIDE = re.compile(r"\s|WARNING|OpenJDK|Error: A fatal exception|Error: Could not create|Caused by")
_TOLD_LINES = 3
_NOTHING = "it said nothing"
_EXECUTABLE, _NO_CODE = "page as executable", "Java compiles code: set MemoryDenyWriteExecute=no in its systemd unit"
_ASKED = re.compile(r"-X(?:m[nsx]|ss).*|-XX:(?:Max|Min|Initial)\w+=.*|-XX:\w+Size=.*|-XX:[+-]Use\w+GC")
"""Options about memory, which do nothing in a JVM that ends at once."""
_JMX_PORT, _AGENT = "-Dcom.sun.management.jmxremote.port=", "-javaagent:"
_MOST_PORT = 65_535


def obstacle(java: Path, options: Sequence[str]) -> str | None:
    """Return the reason, in Java's words, why no JVM with these options starts; raise HostError for an agent that this
    host lacks.

    Java itself is asked about memory only: other options would write files, take ports, or run the user's code.
    """
    for option in options:
        port, agent = option.removeprefix(_JMX_PORT), option.removeprefix(_AGENT).partition("=")[0]
        if option.startswith(_JMX_PORT) and not (port.isdecimal() and int(port) <= _MOST_PORT):
            return f"Invalid com.sun.management.jmxremote.port number: {port}"
        if option.startswith(_AGENT) and not Path(agent).is_file():
            raise HostError(f"the agent {agent} is not on this host")
    about_memory = _about_memory(options)
    while about_memory and (said := _complaint(java, about_memory)) is not None:
        if not (left_out := refused(said, about_memory)):
            return reason(said.splitlines()) or _NOTHING
        about_memory = [option for option in about_memory if option not in left_out]
    return None


def _about_memory(options: Iterable[str]) -> list[str]:
    return [option for option in options if _ASKED.fullmatch(option)]


def _complaint(java: Path, about_memory: Sequence[str]) -> str | None:
    """Return what a JVM with these options says that ends while it initializes; None: it does not."""
    command = [str(java), *with_ours(about_memory), "-version"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    return answer.stdout + answer.stderr if answer.returncode else None


def why_ended(java: Path, options: Sequence[str], said: Iterable[str]) -> str:
    """Return why a JVM has ended that said this on standard error.

    While it initializes it complains on standard output, which is not ours to read; so Java is asked again.
    """
    why = reason(said) or reason((_complaint(java, _about_memory(options)) or "").splitlines())
    return f"{why} ({_NO_CODE})" if _EXECUTABLE in why else why or _NOTHING


def reason(said: Iterable[str]) -> str:
    """Return why a JVM did not start, out of its output; empty: that does not tell."""
    telling = [line for line in said if line and not _ASIDE.match(line)]
    return "; ".join(telling[:_TOLD_LINES])


def removed(options: Iterable[str], release: int) -> list[str]:
    """Return the options that this release of Java has removed."""
    return [option for option in options if _GONE_IN.get(_name(option), release + 1) <= release]


def refused(said: str, options: Sequence[str]) -> list[str]:
    """Return the options that a JVM named when it refused to start, found in its output."""
    found = _NAMED.search(said)
    if found is None:
        return []
    if found["collectors"]:
        return [option for option in options if _COLLECTOR.fullmatch(option)]
    flag = found["flag"] or found["locked"]
    if flag:
        return [option for option in options if re.fullmatch(rf"-XX:[+-]?{re.escape(flag)}", option)]
    return [option for option in options if option.startswith(found["word"] or found["start"])]


def with_ours(options: Sequence[str]) -> list[str]:
    """Return our flags, then the user's, which win where both set the same thing."""
    ours = list(_OURS)
    if not any(_HEAP.fullmatch(option) for option in options):
        ours.append(_OUR_HEAP)
    if not any(_COLLECTOR.fullmatch(option) for option in options):
        ours.append(_OUR_COLLECTOR)
    return [*ours, *options]


def computed_heap(java: Path, options: Sequence[str]) -> int | None:
    """Return the heap in bytes where options leave it to Java, such as -XX:MaxRAMPercentage; None where none does."""
    deciding = [option for option in options if _HEAP.fullmatch(option)]
    if not deciding or any(_MAXIMUM_HEAP.fullmatch(option) for option in deciding):
        return None
    command = [str(java), *deciding, "-XX:+PrintFlagsFinal", "-version"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout
    found = re.search(r"\bMaxHeapSize\s*:?=\s*(\d+)", answer)
    return int(found[1]) if found else 0


def _name(option: str) -> str:
    flag = re.match(r"-XX:[+-]?(\w+)", option)
    return flag[1] if flag else re.split("[=:]", option)[0]
