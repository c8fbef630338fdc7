// The rules and the dashboard for those who build monitoring from jsonnet.
{
  prometheusAlerts+:: std.parseYaml(importstr 'alerts.yaml'),
  grafanaDashboards+:: { 'seawall.json': import 'dashboard.json' },
}
