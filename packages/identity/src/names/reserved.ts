/**
 * Words that claim to speak for the marketplace. A name that contains one as whole words, or letters that look like it,
 * is rejected.
 */
export const RESERVED: readonly string[] = [
  'agent market',
  'admin',
  'admins',
  'administrator',
  'administrators',
  'customer service',
  'helpdesk',
  'moderator',
  'moderators',
  'official',
  'staff',
  'support',
  'sysadmin',
  'trust and safety',
  'verified',
]
