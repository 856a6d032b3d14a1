import { z } from 'zod'
import { operation, READ_BY_OPERATORS, SWITCHES, WRITE_BY_OPERATORS } from '../define.ts'
import { Switch } from '../schemas/switch.ts'
import { line } from '../schemas/text.ts'

export const listSwitches = operation({
  id: 'listSwitches',
  ...READ_BY_OPERATORS,
  position: 30,
  method: 'GET',
  path: '/api/admin/switches',
  summary: 'List the emergency switches',
  input: z.strictObject({}),
  output: z.array(Switch),
})

export const getAuditHead = operation({
  id: 'getAuditHead',
  ...READ_BY_OPERATORS,
  position: 220,
  method: 'GET',
  path: '/api/admin/audit-head',
  summary: 'Get the head of the audit log',
  description:
    'Store it outside of the marketplace. Later, the same `seq` must still have the same `seal`: otherwise the log was written again.',
  input: z.strictObject({
    seq: z.int().min(1).optional().describe('The number of an entry. Default: the newest one'),
  }),
  output: z.object({
    seq: z.int().describe('The number of the entry; 0 for an empty log'),
    seal: z.string().describe('Hex. It covers the entry and every one before it'),
  }),
  errors: { 404: ['audit_entry_not_found'] },
})

export const turnSwitch = operation({
  id: 'turnSwitch',
  ...WRITE_BY_OPERATORS,
  position: 40,
  method: 'PUT',
  path: '/api/admin/switches/{name}',
  summary: 'Turn an emergency switch',
  input: z.strictObject({ name: z.enum(SWITCHES), on: z.boolean(), reason: line({ min: 3, max: 500 }) }),
  output: Switch,
  worksReadOnly: true,
})
