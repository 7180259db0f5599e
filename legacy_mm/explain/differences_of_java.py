"""The ledger's rows about the Java process and its options."""

from __future__ import annotations

from legacy_mm.explain.difference import Quirk

_SCRIPT = "tests/unit/compat/test_legacy_script_golden.py::"

JAVA_QUIRKS = (
    Quirk(
        "java-defaults",
        "256 MB of heap, the G1 collector and local JMX, unless variables say otherwise",
        "our own choice for Spark's driver, 512 MB at least; what a variable sets holds",
        "it is another Java program; JMX costs time at the start and is there as soon as JMX_PORT or KAFKA_JMX_OPTS is",
        _SCRIPT + "test_recorded_case",
    ),
    Quirk(
        "java-options-left-out",
        "an option that Java does not know ends the start with exit 1",
        "it is left out with a WARN line, and a JAVA_HOME below 17 is ignored",
        "an environment written for Java 8 must start",
        "tests/unit/jvm/test_gateway.py::test_default_options_of_every_release",
    ),
    Quirk(
        "java-network-properties",
        "-D properties of Java's network code count: java.security.krb5.realm and .kdc, https.proxyHost, "
        "java.net.preferIPv4Stack",
        "they are given to Spark's Java, and have no effect on the copying; a krb5.conf that -D names is read",
        "the clients are not Java: name realms in krb5.conf",
        "tests/unit/compat/test_translate.py::test_java_s_network_properties_do_not_reach_the_clients",
    ),
    Quirk(
        "bare-java",
        "java -cp ... kafka.tools.MirrorMaker",
        "write kafka-run-class.sh for java: it takes the same words, Java options and class path included",
        "a jar could only start this program as a second process",
        "tests/structure/test_scripts.py::test_java_options_before_the_class_stay_before_it",
    ),
)
