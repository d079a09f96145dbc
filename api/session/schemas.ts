import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { ROLES } from '../../core/access/roles.ts';
import { EMAIL_LIMIT } from '../../core/tracking/emails.ts';
import { PLANS } from '../../sql/workspaces/workspaces.ts';
import { Body, Instant, Nullable, OneOf, Uuid } from '../schemas.ts';

export const PASSWORD_LEAST = 10;
const PASSWORD_MOST = 200;

export const Email = Type.String({ minLength: 3, maxLength: EMAIL_LIMIT });
const NewPassword = Type.String({ minLength: PASSWORD_LEAST, maxLength: PASSWORD_MOST });
const Password = Type.String({ minLength: 1, maxLength: PASSWORD_MOST });
const Token = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'What stands behind the `#` of the invitation.',
});
const Label = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'How the member calls it; its browser and system unless given.',
});

/** What an authenticator answers, as the browser's own `toJSON()` writes it. */
const credential = (answer: TProperties) =>
  Type.Object(
    {
      id: Type.String({ minLength: 1, maxLength: 1_400 }),
      rawId: Type.String({ minLength: 1, maxLength: 1_400 }),
      type: Type.Literal('public-key'),
      response: Type.Object(answer, { additionalProperties: true }),
    },
    { additionalProperties: true, description: "The browser's PublicKeyCredential as JSON." },
  );
const Base64 = Type.String({ maxLength: 100_000 });
export const NewCredential = credential({ clientDataJSON: Base64, attestationObject: Base64 });
export const CredentialAnswer = credential({
  clientDataJSON: Base64,
  authenticatorData: Base64,
  signature: Base64,
});

/** Options of a ceremony, handed to the browser as they are. */
export const CeremonyOptions = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'For `navigator.credentials`, as JSON. The challenge holds for five minutes and one answer.',
});

const SESSION = {
  member: Type.Object({ id: Uuid, email: Nullable(Type.String()), role: OneOf(ROLES) }),
  workspace: Type.Object({
    id: Uuid,
    name: Type.String(),
    slug: Type.String(),
    primary_domain: Type.String({ description: 'Empty until the first own-site link sets it.' }),
    plan: OneOf(PLANS),
    paid: Type.Boolean({
      description: 'Whether the plan is an active paid one. Without it endpoints that need one answer 402.',
    }),
    currency: Type.String({ description: 'Lower-case ISO 4217 code of all revenue.' }),
  }),
  csrf_token: Type.String({ description: 'For the header `x-csrf-token` of calls that change something.' }),
  urls: Type.Object({
    base_url: Type.String(),
    app_url: Type.String(),
    short_url: Type.String(),
    public_url: Type.String(),
  }),
};
export const SessionBody = Type.Object(SESSION);
export type SessionBody = Static<typeof SessionBody>;

/** A member signed in, or the workspaces to choose among. */
export const SignInAnswer = Type.Object({
  session: Nullable(SessionBody as TObject<typeof SESSION> & { type: string }),
  workspaces: Type.Array(Type.Object({ id: Uuid, name: Type.String() }), {
    description:
      'Where email and password fit several workspaces: call again with one of these as `workspace_id`.',
  }),
});
export type SignInAnswer = Static<typeof SignInAnswer>;

export const SignInBody = Body({
  email: Type.String({ maxLength: EMAIL_LIMIT }),
  password: Password,
  workspace_id: Type.Optional(Uuid),
});
export type SignInBody = Static<typeof SignInBody>;

export const PasskeySignInBody = Body({ passkey: CredentialAnswer });

export const InviteToken = Body({ token: Token });

export const InviteView = Type.Object({
  workspace: Type.Object({ name: Type.String() }),
  email: Nullable(Type.String({ description: 'Null: who accepts it says one.' })),
  role: OneOf(ROLES),
  expires_at: Instant,
});

export const InvitePasskeyBody = Body({ token: Token, email: Type.Optional(Email) });

export const AcceptBody = Body({
  token: Token,
  email: Type.Optional(
    Type.String({ ...Email, description: 'Where the invitation names none; needed beside a password.' }),
  ),
  password: Type.Optional(NewPassword),
  passkey: Type.Optional(NewCredential),
  label: Type.Optional(Label),
});
export type AcceptBody = Static<typeof AcceptBody>;

export const PasswordBody = Body({
  current_password: Type.Optional(Type.String({ ...Password, description: 'Needed by who has a password.' })),
  password: NewPassword,
});
export type PasswordBody = Static<typeof PasswordBody>;

const PASSKEY = {
  id: Uuid,
  label: Type.String(),
  created_at: Instant,
  last_used_at: Nullable(Instant),
};
export const PasskeyView = Type.Object(PASSKEY);
export const PasskeyList = Type.Object({
  passkeys: Type.Array(PasskeyView),
  has_password: Type.Boolean({ description: 'Whether the member can sign in with a password too.' }),
});
export const PasskeyBody = Body({ passkey: NewCredential, label: Type.Optional(Label) });

export const SessionList = Type.Object({
  sessions: Type.Array(
    Type.Object({
      id: Uuid,
      browser: Type.String(),
      os: Type.String(),
      current: Type.Boolean({ description: 'The session of this call.' }),
      created_at: Instant,
      last_seen_at: Instant,
      expires_at: Type.String({ format: 'date-time', description: '14 days without a call end it sooner.' }),
    }),
  ),
});
