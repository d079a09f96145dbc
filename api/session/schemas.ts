import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { ROLES } from '../../core/access/roles.ts';
import { EMAIL_LIMIT } from '../../core/tracking/emails.ts';
import { PLANS } from '../../sql/workspaces/workspaces.ts';
import { Body, Currency, Email, Instant, Name, Nullable, OneOf, Url, Uuid } from '../schemas.ts';

/** Minimum of NIST SP 800-63B. Easy passwords of any length are refused, see `weak-passwords.ts`. */
const PASSWORD_LEAST = 8;
const PASSWORD_MOST = 200;

/** The email of a member in a request. */
export const MemberEmail = Type.String({ format: 'email', minLength: 3, maxLength: EMAIL_LIMIT });

export const Role = OneOf(ROLES, {
  title: 'Role',
  description: '`analyst` reads, `operator` also changes, `owner` also manages keys and members.',
});

const NewPassword = Type.String({ minLength: PASSWORD_LEAST, maxLength: PASSWORD_MOST });
const Password = Type.String({ minLength: 1, maxLength: PASSWORD_MOST });
const Code = Type.String({
  minLength: 6,
  maxLength: 40,
  description: 'Six digits of the authenticator app, or a recovery code.',
});
const Keep = Type.Boolean({
  description: 'Keeps what this browser is signed in to, so that it can switch between the workspaces.',
});
const Token = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The part of the link after `#`.',
});
const Label = Type.String({
  ...Name,
  description: 'Name of the passkey. Browser and operating system by default.',
});

/** The response of an authenticator, as the browser's `toJSON()` writes it. */
const credential = (title: string, answer: TProperties) =>
  Type.Object(
    {
      id: Type.String({ minLength: 1, maxLength: 1_400 }),
      rawId: Type.String({ minLength: 1, maxLength: 1_400 }),
      type: Type.Literal('public-key'),
      response: Type.Object(answer, { additionalProperties: true }),
    },
    { title, additionalProperties: true, description: "The browser's PublicKeyCredential as JSON." },
  );
const Base64 = Type.String({ maxLength: 100_000 });
const NewCredential = credential('NewPasskeyCredential', {
  clientDataJSON: Base64,
  attestationObject: Base64,
});
const CredentialAnswer = credential('PasskeyCredential', {
  clientDataJSON: Base64,
  authenticatorData: Base64,
  signature: Base64,
});

/** Options of a ceremony, passed to the browser unchanged. */
export const CeremonyOptions = Type.Unsafe<Record<string, unknown>>({
  title: 'PasskeyOptions',
  type: 'object',
  additionalProperties: true,
  description: 'Options for `navigator.credentials`, as JSON. The challenge is valid once, for five minutes.',
});

const SESSION = {
  member: Type.Object({ id: Uuid, email: Nullable(Email), role: Role }, { title: 'SessionMember' }),
  workspace: Type.Object(
    {
      id: Uuid,
      name: Type.String(),
      slug: Type.String(),
      primary_domain: Type.String({ description: 'Empty until the first own-site link sets it.' }),
      plan: OneOf(PLANS),
      paid: Type.Boolean({
        description:
          'Whether the plan is an active paid plan. If not, endpoints that need one respond with 402.',
      }),
      time_zone: Nullable(Type.String({ description: "Time zone of days in reports. Null: the viewer's." })),
      currency: { ...Currency, description: 'Currency of all revenue: ISO 4217 code in lower case.' },
      sample_of: Nullable({
        ...Uuid,
        description:
          'The workspace that this sample shop belongs to; members only look at it. Null: no sample.',
      }),
    },
    { title: 'SessionWorkspace' },
  ),
  first_steps: Type.Boolean({
    description:
      'Whether the member is shown the first steps of GET /first-steps: not all done, and not hidden.',
  }),
  other_workspaces: Type.Array(
    Type.Object(
      { member_id: Uuid, id: Uuid, name: Type.String(), email: Nullable(Email), role: Role },
      { title: 'OtherWorkspace' },
    ),
    { description: 'Workspaces that this browser is signed in to as well, for POST /session/switch.' },
  ),
  sends_mail: Type.Boolean({
    description: 'Whether the service sends mail. If not, it shows links to pass on.',
  }),
  csrf_token: Type.String({
    description: 'Value of the `x-csrf-token` header of calls that change something.',
  }),
  urls: Type.Object(
    { base_url: Url, app_url: Url, short_url: Url, public_url: Url },
    { title: 'ServiceUrls' },
  ),
};
export const SessionBody = Type.Object(SESSION, { title: 'Session' });
export type SessionBody = Static<typeof SessionBody>;

/** A signed-in member, or the workspaces to choose from. */
export const SignInAnswer = Type.Object(
  {
    code_required: Type.Boolean({
      description: 'Email and password are right: call again with a `code` of the authenticator app.',
    }),
    session: Nullable(SessionBody as TObject<typeof SESSION> & { type: string }),
    workspaces: Type.Array(Type.Object({ id: Uuid, name: Type.String() }, { title: 'WorkspaceChoice' }), {
      description:
        'If email and password match several workspaces: call again with one of their ids as `workspace_id`.',
    }),
  },
  { title: 'SignedIn' },
);
export type SignInAnswer = Static<typeof SignInAnswer>;

export const SignInBody = Body(
  {
    email: Type.String({ format: 'email', maxLength: EMAIL_LIMIT }),
    password: Password,
    workspace_id: Type.Optional(Uuid),
    code: Type.Optional(Code),
    keep: Type.Optional(Keep),
  },
  { title: 'SignIn' },
);
export type SignInBody = Static<typeof SignInBody>;

export const CodeBody = Body({ code: Code }, { title: 'AuthenticatorCode' });

export const ConfirmBody = Body(
  {
    password: Type.Optional(Password),
    code: Type.Optional(Code),
    passkey: Type.Optional(CredentialAnswer),
  },
  { title: 'Confirmation' },
);
export type ConfirmBody = Static<typeof ConfirmBody>;

export const ConfirmMethods = Type.Object(
  {
    password: Type.Boolean(),
    code: Type.Boolean(),
    passkey: Type.Boolean(),
    provider: Nullable(Type.String({ description: 'Name of the identity provider to sign in with again.' })),
  },
  { title: 'ConfirmationMethods' },
);

export const TwoFactorView = Type.Object(
  {
    enabled_at: Nullable({ ...Instant, description: 'Null: off.' }),
    recovery_codes: Type.Integer({ description: 'Unused ones.' }),
  },
  { title: 'TwoFactor' },
);
export const AppSecret = Type.Object(
  {
    secret: Type.String({ description: 'Base32, to type in.' }),
    uri: Type.String({ description: 'The `otpauth:` URI of a QR code.' }),
  },
  { title: 'AuthenticatorAppSecret' },
);
export const RecoveryCodes = Type.Object(
  {
    recovery_codes: Type.Array(Type.String(), {
      description: 'Each signs in once in place of a code of the app.',
    }),
  },
  { title: 'RecoveryCodes' },
);

export const ProviderView = Type.Object(
  {
    password_reset: Type.Boolean({
      description: 'Whether a forgotten password is reset by mail: the service has a mail server.',
    }),
    name: Nullable(Type.String({ description: 'Null: members sign in with passwords and passkeys only.' })),
    start: Type.String({ description: 'Path of the page that begins a sign-in.' }),
  },
  { title: 'IdentityProvider' },
);

export const PasskeySignInBody = Body(
  { passkey: CredentialAnswer, keep: Type.Optional(Keep) },
  { title: 'SignInWithPasskey' },
);

export const SwitchBody = Body(
  { member_id: { ...Uuid, description: 'Of `other_workspaces` of the session.' } },
  { title: 'SwitchWorkspace' },
);

export const ResetBody = Body(
  { email: Type.String({ format: 'email', maxLength: EMAIL_LIMIT }) },
  { title: 'RequestPasswordReset' },
);
export const ResetToken = Body({ token: Token }, { title: 'PasswordResetToken' });
export const ResetView = Type.Object({ email: Email, expires_at: Instant }, { title: 'PasswordResetView' });
export const NewPasswordBody = Body({ token: Token, password: NewPassword }, { title: 'ResetPassword' });

export const InviteToken = Body({ token: Token }, { title: 'InvitationToken' });

export const InviteView = Type.Object(
  {
    workspace: Type.Object({ name: Type.String() }),
    email: Nullable({ ...Email, description: 'Null: the invited person enters one.' }),
    role: Role,
    expires_at: Instant,
  },
  { title: 'InvitationView' },
);

export const InvitePasskeyBody = Body(
  { token: Token, email: Type.Optional(MemberEmail) },
  { title: 'InvitationPasskey' },
);

export const AcceptBody = Body(
  {
    token: Token,
    email: Type.Optional(
      Type.String({
        ...MemberEmail,
        description: 'Used if the invitation names no email. Required with a password.',
      }),
    ),
    password: Type.Optional(NewPassword),
    passkey: Type.Optional(NewCredential),
    label: Type.Optional(Label),
    keep: Type.Optional(Keep),
  },
  { title: 'AcceptInvitation' },
);
export type AcceptBody = Static<typeof AcceptBody>;

export const PasswordBody = Body(
  {
    current_password: Type.Optional(
      Type.String({ ...Password, description: 'Required if the member has a password.' }),
    ),
    password: NewPassword,
  },
  { title: 'SetPassword' },
);
export type PasswordBody = Static<typeof PasswordBody>;

const PASSKEY = {
  id: Uuid,
  label: Type.String(),
  created_at: Instant,
  last_used_at: Nullable(Instant),
};
export const PasskeyView = Type.Object(PASSKEY, { title: 'Passkey' });
export const PasskeyList = Type.Object(
  {
    passkeys: Type.Array(PasskeyView),
    has_password: Type.Boolean({ description: 'Whether the member can also sign in with a password.' }),
  },
  { title: 'PasskeyList' },
);
export const PasskeyBody = Body(
  { passkey: NewCredential, label: Type.Optional(Label) },
  { title: 'AddPasskey' },
);

const MemberSession = Type.Object(
  {
    id: Uuid,
    browser: Type.String(),
    os: Type.String(),
    current: Type.Boolean({ description: 'Whether it is the session of this call.' }),
    created_at: Instant,
    last_seen_at: Instant,
    expires_at: Type.String({
      format: 'date-time',
      description: '14 days without a call end the session earlier.',
    }),
  },
  { title: 'MemberSession' },
);

export const SessionList = Type.Object(
  { sessions: Type.Array(MemberSession) },
  { title: 'MemberSessionList' },
);

export const EndedSessions = Type.Object({ ended: Type.Integer() }, { title: 'EndedSessions' });
