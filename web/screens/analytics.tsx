export function AnalyticsScreen(_: { id?: string }) { return <div class="screen"><h1>Analytics</h1></div> }
