/** Tells an agent which tools it can report with. */

export const REPORT_TOOLS =
  'The MCP server `ralph` has tools for this loop: `report_stage` claims what is done, like the line above; `ask_human` and `report_blocked` reach a person; `get_context` shows the state of the loop; `create_task` saves work outside this task for later.'
