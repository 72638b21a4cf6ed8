export function AgentsScreen(_: { id?: string }) { return <div class="screen"><h1>Agents</h1></div> }
