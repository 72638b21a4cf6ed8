/** The clients that can be tried here. */
import type { Client } from '../clients.ts'
import { claude } from './claude.ts'

export const CLIENTS: readonly Client[] = [claude]
