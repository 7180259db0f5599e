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
        base/reports cli/commands logs/log_lines clients/admin/cluster_admin clients/group/member
        connect/entities connect/herder connect/plugins
        words/legacy_tool/legacy_options base/settings transactions/bundle_events explain/differences
        explain/known_difference features/connect_offsets/feature features/duty handlers/api
        connect/definition_rows logs/events policies/quota_entities metrics/metric_catalogue
        metrics/mirror_maker_2_mbeans metrics/legacy_mbeans
    """,
    "tests/unit/cli run the commands from their words": """
        __main__ cli/adopt cli/java_class cli/cluster_inspection cli/command cli/driver_text cli/group_inspection
        cli/group_plan cli/ledger cli/legacy_mm cli/mirror_maker cli/reference cli/selftest words/legacy_tool/steps
        explain/client_files explain/explanation explain/host_inspection
    """,
    "test_apply, test_translate, test_logins and test_security_properties give it whole files": """
        words/java_clients/client_properties/bearer words/java_clients/client_properties/common
        words/java_clients/client_properties/consumer words/java_clients/client_properties/kerberos
        words/java_clients/client_properties/known_logins words/java_clients/client_properties/producer
        words/java_clients/client_properties/sasl words/java_clients/client_properties/tls
        words/legacy_tool/client_settings words/legacy_tool/client_translation words/legacy_tool/zookeeper_files
    """,
    "test_rows asks each feature": """
        features/exactly_once/flags features/offset_syncs/feature features/exactly_once/feature
        features/start_from/feature features/quotas/feature features/quotas/flags
    """,
    "real brokers show it: tests/brokers and tests/faults": """
        audit/ledger_check audit/ledger_produce audit/load audit/selftest client/mirror_client
        client/remote_cluster clients/topics/backlog clients/topics/compacted_topic clients/topics/internal_topic
        cli/driver_flows features/connect_offsets/source_logs clients/fetch/partition_log
        clients/produce/single_producer clients/topics/topic_reader clients/group/group_session
        clients/net/gssapi_login features/cutover/adoption
        clients/admin/client_quotas
        flow/connect_offset_topic handlers/java_exit runtime/jvm/mbeans runtime/spark/archive_classes
        runtime/spark/tables
    """,
    "a test of what uses it shows it": """
        dataplane/copy_book dataplane/copy_ends dataplane/refusals assembly/first_inspection
        assembly/wiring dataplane/delivery handlers/bridge_signatures words/mirror_maker_2/connector_properties
        words/mirror_maker_2/strimzi_logins words/mirror_maker_2/strimzi_section
        connect/admin_port connect/herded_flow connect/process_herder
        flow/mirror logs/log_settings runtime/spark/worker_daemon
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
