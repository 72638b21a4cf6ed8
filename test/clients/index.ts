/** The clients that can be tried here. */
import type { Client } from '../clients.ts'
import { claude } from './claude.ts'
import { droid } from './droid.ts'
import { pi } from './pi.ts'

export const CLIENTS: readonly Client[] = [claude, pi, droid]
