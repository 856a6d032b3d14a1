import { z } from 'zod'
import { operation, SWITCHES } from '../define.ts'
import { Switch } from '../schemas/switch.ts'
import { line } from '../schemas/text.ts'

export const listSwitches = operation({
  id: 'listSwitches',
  group: 'Administration',
  method: 'GET',
  path: '/api/admin/switches',
  summary: 'List the emergency switches',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.array(Switch),
  errors: [403],
})

export const getAuditHead = operation({
  id: 'getAuditHead',
  group: 'Administration',
  method: 'GET',
  path: '/api/admin/audit-head',
  summary: 'Get the head of the audit log',
  description:
    'Store it outside of the marketplace. Later, the same `seq` must still have the same `seal`: otherwise the log was written again.',
  callers: ['admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({
    seq: z.int().min(1).optional().describe('The number of an entry. Default: the newest one'),
  }),
  output: z.object({
    seq: z.int().describe('The number of the entry; 0 for an empty log'),
    seal: z.string().describe('Hex. It covers the entry and every one before it'),
  }),
  errors: [403, 404],
})

export const turnSwitch = operation({
  id: 'turnSwitch',
  group: 'Administration',
  method: 'PUT',
  path: '/api/admin/switches/{name}',
  summary: 'Turn an emergency switch',
  callers: ['admin'],
  limit: 'write',
  recentLogin: true,
  input: z.strictObject({ name: z.enum(SWITCHES), on: z.boolean(), reason: line({ min: 3, max: 500 }) }),
  output: Switch,
  errors: [403],
  worksReadOnly: true,
})
