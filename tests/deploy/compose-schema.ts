/**
 * The part of the Compose Specification that deploy/compose.yaml may use. Everything else is rejected, so that a misspelled
 * key fails here and not on a server. Add a key after reading its description in the specification.
 */
const text = { type: 'string' } as const
const words = { type: 'array', items: text } as const
const duration = { type: 'string', pattern: String.raw`^(\d+(ms|s|m|h))+$` } as const
const onlyWith = (properties: object, required: readonly string[] = []) =>
  ({ type: 'object', additionalProperties: false, properties, required }) as const
const each = (schema: object) => ({ type: 'object', additionalProperties: schema }) as const

const service = onlyWith(
  {
    image: { type: 'string', pattern: '^[^:@ ]+:.+$' },
    build: onlyWith({ context: text, dockerfile: text }),
    entrypoint: words,
    command: words,
    user: text,
    init: { type: 'boolean' },
    read_only: { type: 'boolean' },
    cap_drop: words,
    cap_add: words,
    security_opt: words,
    restart: { enum: ['no', 'always', 'on-failure', 'unless-stopped'] },
    env_file: words,
    environment: each(text),
    ports: words,
    networks: words,
    network_mode: { enum: ['none'] },
    volumes: { type: 'array', items: { type: 'string', pattern: '^[^:]+:/[^:]+(:ro)?$' } },
    tmpfs: words,
    shm_size: { type: 'string', pattern: String.raw`^\d+(b|k|m|g|kb|mb|gb)$` },
    stop_grace_period: duration,
    healthcheck: onlyWith({
      disable: { type: 'boolean' },
      test: words,
      interval: duration,
      timeout: duration,
      start_period: duration,
      retries: { type: 'integer' },
    }),
    depends_on: each(
      onlyWith(
        {
          condition: {
            enum: ['service_started', 'service_healthy', 'service_completed_successfully'],
          },
        },
        ['condition'],
      ),
    ),
  },
  ['image'],
)

export const COMPOSE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['services'],
  properties: {
    name: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]*$' },
    services: each(service),
    networks: each(onlyWith({ internal: { type: 'boolean' } })),
    volumes: each(onlyWith({})),
  },
  // Extensions hold what several services share.
  patternProperties: { '^x-': true },
} as const
