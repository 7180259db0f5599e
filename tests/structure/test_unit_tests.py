"""Tests mirror the package: `a/b.py` has `tests/unit/a/test_b.py`, or a reason here. The list only shrinks.

What only a real JVM or process shows has its file in `tests/processes` instead.
"""

from __future__ import annotations

from pathlib import Path

from tests.structure.source_tree import CHECKOUT

MIRRORS = ("unit", "processes")
# Reason -> modules, as paths below legacy_mm.
WITHOUT_A_TEST_OF_ITS_NAME = {
    "values, types and tables without a decision": """
        audit/record cli/commands cli/log_lines clients/api compat/legacy_options base/settings
        exactly_once/bundle_events explain/differences explain/known_difference
        features/connect_offsets/connect_offset_settings features/duty flow/flow_settings handlers/api logs/events
        metrics/legacy_mbeans metrics/metric_catalogue metrics/mirror_maker_2_mbeans
    """,
    "tests/unit/cli run the commands from their words": """
        __main__ cli/adopt cli/cluster_look cli/command cli/driver_text cli/explain_text
        cli/group_look cli/group_plan cli/ledger cli/legacy_mm cli/mirror_maker cli/reference cli/selftest
        compat/steps explain/client_files explain/explanation explain/host_look
    """,
    "test_apply, test_translate, test_logins and test_security_properties give it whole files": """
        compat/client_properties/bearer compat/client_properties/common compat/client_properties/consumer
        compat/client_properties/kerberos compat/client_properties/known_logins compat/client_properties/producer
        compat/client_properties/rule compat/client_properties/sasl compat/client_properties/tls
        compat/client_settings compat/client_translation compat/zookeeper_files
    """,
    "test_rows asks each feature": """
        features/connect_offsets/feature features/exactly_once/feature features/exactly_once/flags
        features/offset_syncs/feature
    """,
    "real brokers show it: tests/brokers and tests/faults": """
        audit/cluster_access audit/ledger_check audit/ledger_produce audit/load audit/selftest
        client/mirror_client client/remote_cluster clients/native/backlog
        clients/native/compacted_topic clients/native/internal_topic features/connect_offsets/source_logs
        clients/native/partition_log clients/native/single_producer clients/native/topic_reader
        clients/native/access_rules clients/native/group_session clients/native/gssapi_login
        dataplane/batch_source features/cutover/adoption flow/connect_offset_topic
        handlers/java_exit jvm/mbeans spark/archive_classes spark/tables
    """,
    "a test of what uses it shows it": """
        dataplane/delivery handlers/bridge_signatures dedicated/connector_properties
        flow/mirror logs/log_settings spark/worker_daemon
    """,
}


def without_a_test(checkout: Path) -> set[str]:
    """Modules that have no file of tests of their name."""
    package = checkout / "legacy_mm"
    modules = (path.relative_to(package) for path in package.rglob("*.py") if path.name != "__init__.py")
    return {
        str(module.with_suffix(""))
        for module in modules
        if not any((checkout / "tests" / each / module.parent / f"test_{module.name}").exists() for each in MIRRORS)
    }


def test_a_module_has_tests_of_its_name_or_a_reason() -> None:
    listed = [name for names in WITHOUT_A_TEST_OF_ITS_NAME.values() for name in names.split()]
    assert sorted(listed) == sorted(without_a_test(CHECKOUT))


def test_a_module_without_tests_is_found(tmp_path: Path) -> None:
    tests = ("tests/unit/a/test_c.py", "tests/processes/a/test_d.py")
    for path in ("legacy_mm/a/b.py", "legacy_mm/a/c.py", "legacy_mm/a/d.py", "legacy_mm/a/__init__.py", *tests):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert without_a_test(tmp_path) == {"a/b"}
