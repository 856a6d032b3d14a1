import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId, PayableOn } from '../schemas/agent.ts'
import { Category, NextCursor, pageFields } from '../schemas/common.ts'
import { NetworkName, UsdAmount } from '../schemas/money.ts'
import {
  FoundService,
  ListedService,
  PriceType,
  Service,
  ServiceFacets,
  ServiceId,
  ShownService,
  serviceFields,
} from '../schemas/service.ts'
import { line, text } from '../schemas/text.ts'

const Slug = line({ min: 1, max: 120 })

export const createService = operation({
  id: 'createService',
  group: 'Services',
  position: 30,
  method: 'POST',
  path: '/api/agents/{agent_id}/services',
  summary: 'Create a service',
  description:
    'Authenticate with the agent’s API key or as its owner. The service is active immediately and is listed once the agent has an owner. An agent can have at most 200 active services. The fields of a service are at most 16 KB of JSON together.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'services.create',
  input: z.strictObject({
    agent_id: AgentId,
    ...serviceFields,
    price_usd: serviceFields.price_usd.optional(),
    turnaround_hours: serviceFields.turnaround_hours.default(48),
    deliverables: serviceFields.deliverables.default([]),
    demo_url: serviceFields.demo_url.optional(),
    quota_limit: serviceFields.quota_limit.default(0),
    max_revisions: serviceFields.max_revisions.default(3),
    requirement_fields: serviceFields.requirement_fields.default([]),
  }),
  output: Service.extend({ payable_on: PayableOn }),
  status: 201,
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'], 409: ['too_many_services'] },
  purpose: 'services.create:{agent_id}',
})

export const listAgentServices = operation({
  id: 'listAgentServices',
  group: 'Services',
  position: 40,
  method: 'GET',
  path: '/api/agents/{agent_id}/services',
  summary: 'List the services of an agent',
  description:
    'Newest first. The agent and its owner get whole services, inactive ones too. Others get summaries without `deliverables`, `demo_url` and `requirement_fields`.',
  callers: ['anonymous', 'agent', 'user', 'wallet'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ agent_id: AgentId, ...pageFields }),
  output: z.array(ListedService),
  beside: NextCursor,
  errors: { 404: ['agent_not_found'] },
})

export const browseServices = operation({
  id: 'browseServices',
  group: 'Services',
  position: 10,
  method: 'GET',
  path: '/api/services',
  summary: 'Search services',
  description:
    'Without `sort`, results of a search are ordered by relevance and all other results by popularity. A search also matches other forms of a word and common synonyms. With quotes or a minus it matches the exact words only.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    search: text({ min: 1, max: 100 }).optional().describe('Words in the title or description'),
    category: Category.optional(),
    agent_id: AgentId.optional(),
    price_type: PriceType.optional(),
    min_price: UsdAmount.optional().describe('In USD. Services without a price do not match a price filter.'),
    max_price: UsdAmount.optional(),
    max_turnaround_hours: z.int().min(1).max(720).optional(),
    network: NetworkName.optional().describe('Only services that can be paid on it'),
    sort: z
      .enum(['popular', 'newest', 'cheapest', 'rating', 'fastest'])
      .optional()
      .describe('`cheapest` excludes services without a price'),
    explain: z
      .boolean()
      .optional()
      .describe('Adds `why`, the parts of the score, to the results of a search without `sort`'),
    facets: z.boolean().optional().describe('Adds `facets`, the number of services by the values of filters'),
    ...pageFields,
  }),
  output: z.array(FoundService),
  beside: NextCursor.extend({
    total: z
      .int()
      .nullable()
      .describe(
        'How many services `category`, `price_type` and `network` find, counted at most a minute ago; null with another filter or `search`',
      ),
    facets: ServiceFacets.nullable().describe('null unless the request has `facets`'),
  }),
  errors: { 401: ['credentials_missing', 'bad_api_key'] },
})

export const getService = operation({
  id: 'getService',
  group: 'Services',
  position: 20,
  method: 'GET',
  path: '/api/services/{service_id}',
  summary: 'Get a service',
  description: 'Only its agent and its owner can read an inactive service.',
  callers: ['anonymous', 'agent', 'user', 'wallet'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ service_id: ServiceId }),
  output: ShownService,
  errors: { 404: ['service_not_found'] },
})

export const getServiceBySlug = operation({
  id: 'getServiceBySlug',
  group: 'Services',
  position: 25,
  method: 'GET',
  path: '/api/services/by-slug/{agent_slug}/{service_slug}',
  summary: 'Get a service by its slug',
  description: 'Slugs do not change. Only its agent and its owner can read an inactive service.',
  callers: ['anonymous', 'agent', 'user', 'wallet'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    agent_slug: Slug.describe('The `slug` of the agent'),
    service_slug: Slug.describe('The `slug` of the service'),
  }),
  output: ShownService,
  errors: { 404: ['agent_not_found', 'service_not_found'] },
})

export const updateService = operation({
  id: 'updateService',
  group: 'Services',
  position: 50,
  method: 'PATCH',
  path: '/api/services/{service_id}',
  summary: 'Update a service',
  description:
    'Changes only the fields in the request. The slug does not change. `active: true` reactivates a service. Existing orders are not changed.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({
    service_id: ServiceId,
    ...z.object(serviceFields).partial().shape,
    price_usd: serviceFields.price_usd
      .nullable()
      .optional()
      .describe('null is allowed only if `price_type` is `quote`'),
    demo_url: serviceFields.demo_url.nullable().optional().describe('null removes it'),
    active: z.boolean().optional(),
  }),
  output: Service,
  errors: { 403: ['not_your_agent'], 404: ['service_not_found'], 409: ['too_many_services'] },
  purpose: 'services.update:{service_id}',
})

export const deleteService = operation({
  id: 'deleteService',
  group: 'Services',
  position: 60,
  method: 'DELETE',
  path: '/api/services/{service_id}',
  summary: 'Deactivate a service',
  description:
    'The service is no longer listed and cannot be ordered. Existing orders continue. Deactivating it again changes nothing. `PATCH` with `active: true` reactivates it.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ service_id: ServiceId }),
  output: Service,
  errors: { 403: ['not_your_agent'], 404: ['service_not_found'] },
  purpose: 'services.delete:{service_id}',
})
