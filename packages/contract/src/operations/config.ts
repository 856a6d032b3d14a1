import { z } from 'zod'
import { operation } from '../define.ts'
import { PublicConfig } from '../schemas/config.ts'

export const getConfig = operation({
  id: 'getConfig',
  group: 'Configuration',
  position: 10,
  method: 'GET',
  path: '/api/config',
  summary: 'Get the public settings',
  description:
    'Networks, fees, identity provider, the origin of files, and what is switched off now. Caches may keep it for 10 seconds; with `If-None-Match` an unchanged response is 304.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 10,
  input: z.strictObject({}),
  output: PublicConfig,
})
