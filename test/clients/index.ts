/** The clients that can be tested here. */
import type { Client } from '../clients.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { droid } from './droid.ts'
import { gemini } from './gemini.ts'
import { kilo, opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwen } from './qwen.ts'

export const CLIENTS: readonly Client[] = [claude, codex, copilot, gemini, opencode, pi, qwen, droid, kilo]
