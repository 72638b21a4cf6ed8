/** The words that tell an agent which tools it has to report with. */

export const REPORT_TOOLS =
  'The MCP server `ralph` has tools for this loop: `report_stage` claims what is done, as the line above does; `ask_human` and `report_blocked` reach a person; `get_context` tells where the loop stands; `create_task` keeps work that does not belong to this task for later.'
