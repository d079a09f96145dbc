import { type Attempts, URL_OF_OWN } from './attempt.ts';
import { SECRET_NAME } from './victim.ts';

/** Greater than every id: the cursor of a walk's beginning. */
const LAST_ID = 'ffffffff-ffff-7fff-bfff-ffffffffffff';

/** Attempts at programs, enrollments, rewards and payouts. */
export const REFERRAL_ATTEMPTS: Attempts = {
  'GET /api/v1/credits': (victim) => [
    { path: `/credits?partner_id=${victim.partner}`, status: 200 },
    { path: `/credits?external_user_id=${victim.referrer}`, status: 200 },
    { path: '/credits?status=earned', status: 200 },
  ],
  'POST /api/v1/credits/{id}/revoke': (victim) => [
    { path: `/credits/${victim.grant}/revoke`, body: { reason: 'theft' }, status: 404 },
  ],
  'GET /api/v1/coupons': (victim) => [
    { path: `/coupons?cursor=${LAST_ID}`, status: 200 },
    { path: `/coupons?partner_id=${victim.partner}`, status: 200 },
    { path: `/coupons?program_id=${victim.program}&external_user_id=${victim.referrer}`, status: 200 },
    { path: `/coupons?code=${victim.couponCode}`, status: 200 },
  ],
  'POST /api/v1/coupons': (victim) => [
    { path: '/coupons', body: { code: 'OWN', external_user_id: victim.referrer }, status: 404 },
  ],
  'POST /api/v1/coupons/{id}/promotion-code': (victim) => [
    { path: `/coupons/${victim.coupon}/promotion-code`, body: { percent_off: 10 }, status: 404 },
  ],
  'DELETE /api/v1/coupons/{id}': (victim) => [{ path: `/coupons/${victim.coupon}`, status: 404 }],
  'GET /api/v1/commissions': (victim) => [
    { path: `/commissions?cursor=${LAST_ID}`, status: 200 },
    { path: `/commissions?partner_id=${victim.partner}`, status: 200 },
    { path: `/commissions?program_id=${victim.program}`, status: 200 },
  ],
  'POST /api/v1/commissions': (victim) => [
    {
      path: '/commissions',
      body: { external_user_id: victim.referrer, amount: 1, note: 'theft' },
      status: 404,
    },
  ],
  'POST /api/v1/commissions/{id}/reject': (victim) => [
    { path: `/commissions/${victim.commission}/reject`, status: 404 },
  ],
  'POST /api/v1/credits/{id}/mark-delivered': (victim) => [
    { path: `/credits/${victim.grant}/mark-delivered`, status: 404 },
  ],
  'POST /api/v1/referrals/enroll': (victim) => [
    {
      path: '/referrals/enroll',
      body: { email: 'a@own.example', external_user_id: 'own', tier: 'free', program_id: victim.program },
      status: 404,
    },
  ],
  'POST /api/v1/referrals/report-signup': (victim) => [
    {
      path: '/referrals/report-signup',
      body: { new_user_external_user_id: 'new', ref_code: victim.refCode, _vid: victim.visitor },
      status: 200,
    },
    {
      path: '/referrals/report-signup',
      body: { new_user_external_user_id: 'newer', referrer_external_user_id: victim.referrer },
      status: 200,
    },
  ],
  'POST /api/v1/referrals/report-purchase': (victim) => [
    {
      path: '/referrals/report-purchase',
      body: { external_user_id: 'victims-referee', order_id: victim.orderId, amount: 10 },
      status: 200,
    },
  ],
  'POST /api/v1/referrals/report-refund': (victim) => [
    {
      path: '/referrals/report-refund',
      body: { refund_id: 'r', order_id: 'victims-purchase', amount: 1 },
      status: 200,
    },
    { path: '/referrals/report-refund', body: { refund_id: 's', order_id: victim.orderId }, status: 200 },
  ],
  'GET /api/v1/referrals/preview': () => [{ path: '/referrals/preview', status: 404 }],
  'POST /api/v1/enrollments/{id}/preview': (victim) => [
    { path: `/enrollments/${victim.partner}/preview`, status: 404, as: 'member' },
  ],
  'POST /api/v1/referrals/import': (victim) => [
    {
      path: '/referrals/import',
      body: { from: 'csv', program_id: victim.program, files: [{ name: 'a.csv', text: 'partner_id\n1\n' }] },
      status: 404,
    },
  ],
  'GET /api/v1/referrals/summary': (victim) => [
    { path: '/referrals/summary', status: 200 },
    { path: `/referrals/summary?program_id=${victim.program}&days=90`, status: 200 },
  ],
  'GET /api/v1/referrals/stats': (victim) => [
    { path: `/referrals/stats?external_user_id=${victim.referrer}`, status: 404 },
    { path: `/referrals/stats?external_user_id=own&program_id=${victim.program}`, status: 404 },
  ],
  'POST /api/v1/referrals/reward-mode': (victim) => [
    {
      path: '/referrals/reward-mode',
      body: { external_user_id: victim.referrer, mode: 'affiliate' },
      status: 404,
    },
  ],
  'POST /api/v1/referrals/payout-method': (victim) => [
    {
      path: '/referrals/payout-method',
      body: { external_user_id: victim.referrer, method: 'paypal', email: 'thief@own.example' },
      status: 404,
    },
  ],
  'GET /api/v1/payouts/export': (victim) => [
    { path: '/payouts/export', status: 200 },
    { path: `/payouts/export?program_id=${victim.program}`, status: 404 },
  ],
  'POST /api/v1/payouts': (victim) => [
    { path: '/payouts', body: { export_id: victim.payoutExport }, status: 404 },
    {
      path: '/payouts',
      body: { export_id: victim.payoutExport, partner_ids: [victim.partner] },
      status: 404,
    },
  ],
  'GET /api/v1/payouts': (victim) => [
    { path: '/payouts', status: 200 },
    { path: `/payouts?paid=false&cursor=${LAST_ID}`, status: 200 },
    { path: `/payouts?cursor=${victim.payoutExport}`, status: 200 },
  ],
  'GET /api/v1/payouts/eligible': (victim) => [
    { path: '/payouts/eligible', status: 200 },
    { path: `/payouts/eligible?program_id=${victim.program}&cursor=${LAST_ID}`, status: 200 },
  ],
  'GET /api/v1/payouts/{id}': (victim) => [{ path: `/payouts/${victim.payoutExport}`, status: 404 }],
  'DELETE /api/v1/payouts/{id}': (victim) => [{ path: `/payouts/${victim.payoutExport}`, status: 404 }],
  'POST /api/v1/payouts/{id}/lines/{partner_id}/retry': (victim) => [
    { path: `/payouts/${victim.payoutExport}/lines/${victim.partner}/retry`, status: 404 },
  ],
  'POST /api/v1/payouts/{id}/lines/{partner_id}/fail': (victim) => [
    {
      path: `/payouts/${victim.payoutExport}/lines/${victim.partner}/fail`,
      body: { reason: 'theft' },
      status: 404,
    },
  ],
  'GET /api/v1/payouts/{id}/lines': (victim) => [
    { path: `/payouts/${victim.payoutExport}/lines`, status: 404 },
  ],
  'GET /api/v1/enrollments': (victim) => [
    { path: `/enrollments?cursor=${LAST_ID}`, status: 200 },
    { path: `/enrollments?program_id=${victim.program}`, status: 200 },
    { path: `/enrollments?search=${SECRET_NAME}`, status: 200 },
  ],
  'GET /api/v1/enrollments/{id}': (victim) => [{ path: `/enrollments/${victim.partner}`, status: 404 }],
  'PATCH /api/v1/enrollments/{id}': (victim) => [
    { path: `/enrollments/${victim.partner}`, body: { status: 'suspended' }, status: 404 },
    { path: `/enrollments/${victim.partner}`, body: { status: 'approved' }, status: 404 },
    {
      path: `/enrollments/${victim.partner}`,
      body: { payout_method: { method: 'paypal', email: 'thief@own.example' } },
      status: 404,
    },
    { path: `/enrollments/${victim.partner}`, body: { group_id: victim.group }, status: 404 },
  ],
  'POST /api/v1/enrollments/{id}/confirm-payout-method': (victim) => [
    {
      path: `/enrollments/${victim.partner}/confirm-payout-method`,
      body: { payout_held_until: null },
      status: 404,
    },
  ],
  'DELETE /api/v1/enrollments/{id}': (victim) => [{ path: `/enrollments/${victim.partner}`, status: 404 }],
  'GET /api/v1/enrollments/{id}/history': (victim) => [
    { path: `/enrollments/${victim.partner}/history`, status: 404 },
  ],
  'GET /api/v1/applications': (victim) => [
    { path: '/applications', status: 200 },
    { path: `/applications?program_id=${victim.program}`, status: 200 },
    { path: `/applications?cursor=${LAST_ID}`, status: 200 },
  ],
  'POST /api/v1/applications/{id}/approve': (victim) => [
    { path: `/applications/${victim.application}/approve`, body: {}, status: 404 },
    {
      path: `/applications/${victim.application}/approve`,
      body: { external_user_id: victim.referrer },
      status: 404,
    },
  ],
  'POST /api/v1/applications/{id}/reject': (victim) => [
    { path: `/applications/${victim.application}/reject`, body: {}, status: 404 },
  ],
  'GET /api/v1/assets': (victim) => [
    { path: '/assets', status: 200 },
    { path: `/assets?program_id=${victim.program}`, status: 200 },
    { path: `/assets?cursor=${LAST_ID}`, status: 200 },
  ],
  'POST /api/v1/assets': (victim) => [
    {
      path: '/assets',
      body: { program_id: victim.program, type: 'text', name: 'Theft', text: 'Mine' },
      status: 404,
    },
  ],
  'POST /api/v1/assets/pictures': () => [{ path: '/assets/pictures', body: { a: 1 }, status: 400 }],
  'DELETE /api/v1/assets/{id}': (victim) => [{ path: `/assets/${victim.asset}`, status: 404 }],
  'GET /api/v1/messages': () => [
    { path: '/messages', status: 200 },
    { path: `/messages?cursor=${LAST_ID}`, status: 200 },
  ],
  'GET /api/v1/messages/{id}': (victim) => [{ path: `/messages/${victim.message}`, status: 404 }],
  'POST /api/v1/messages': (victim) => [
    // No mail server is set, which is checked first.
    { path: '/messages', body: { program_id: victim.program, subject: 'S', text: 'T' }, status: 409 },
  ],
  'POST /api/v1/messages/preview': (victim) => [
    {
      path: '/messages/preview',
      body: { program_id: victim.program, subject: 'S', text: '{name}' },
      status: 404,
    },
    {
      path: '/messages/preview',
      body: { group_id: victim.group, subject: 'S', text: '{name}' },
      status: 404,
    },
    {
      path: '/messages/preview',
      body: { partner_ids: [victim.partner], subject: 'S', text: '{name}' },
      status: 404,
    },
  ],
  'GET /api/v1/partner-groups': (victim) => [
    { path: '/partner-groups', status: 200 },
    { path: `/partner-groups?program_id=${victim.program}`, status: 200 },
    { path: `/partner-groups?cursor=${LAST_ID}`, status: 200 },
  ],
  'POST /api/v1/partner-groups': (victim) => [
    { path: '/partner-groups', body: { program_id: victim.program, name: 'Theft' }, status: 404 },
  ],
  'GET /api/v1/partner-groups/{id}': (victim) => [{ path: `/partner-groups/${victim.group}`, status: 404 }],
  'PATCH /api/v1/partner-groups/{id}': (victim) => [
    { path: `/partner-groups/${victim.group}`, body: { commission_rate: 90 }, status: 404 },
  ],
  'DELETE /api/v1/partner-groups/{id}': (victim) => [
    { path: `/partner-groups/${victim.group}`, status: 404 },
  ],
  'POST /api/v1/portal/challenges': () => [{ path: '/portal/challenges', body: {}, status: 201 }],
  'POST /api/v1/portal/applications': (victim) => [
    {
      path: '/portal/applications',
      body: {
        code: victim.programCode,
        email: 'thief@own.example',
        name: 'Thief',
        language: 'en',
        challenge: 'tq4f3k.c2hvcnQgdGV4dA.5f3c9a0b1c2d3e4f',
        nonce: '0',
      },
      status: 400,
    },
  ],
  'POST /api/v1/portal/sign-in': (victim) => [
    {
      path: '/portal/sign-in',
      body: { code: victim.programCode, email: 'thief@own.example', language: 'en' },
      status: 202,
    },
  ],
  'POST /api/v1/portal/sign-in/complete': () => [
    { path: '/portal/sign-in/complete', body: { token: 'A'.repeat(43) }, status: 401 },
  ],
  'POST /api/v1/portal/sign-out': () => [{ path: '/portal/sign-out', body: {}, status: 200 }],
  'POST /api/v1/portal/payout-method': (victim) => [
    {
      path: '/portal/payout-method',
      body: { code: victim.programCode, method: 'paypal', email: 'thief@own.example' },
      status: 401,
    },
  ],
  'POST /api/v1/portal/notices': (victim) => [
    { path: '/portal/notices', body: { code: victim.programCode, notices: 'off' }, status: 401 },
  ],
  'POST /api/v1/portal/terms': (victim) => [
    { path: '/portal/terms', body: { code: victim.programCode, terms_version: '1' }, status: 401 },
  ],
  'POST /api/v1/portal/links': (victim) => [
    {
      path: '/portal/links',
      body: { code: victim.programCode, url: 'https://victim.example/join/page' },
      status: 401,
    },
  ],
  'POST /api/v1/portal/delete-account': (victim) => [
    { path: '/portal/delete-account', body: { code: victim.programCode }, status: 401 },
  ],
  'GET /api/v1/signups': (victim) => [
    { path: `/signups?cursor=${LAST_ID}`, status: 200 },
    { path: `/signups?partner_id=${victim.partner}`, status: 200 },
    { path: `/signups?program_id=${victim.program}&search=victims-referee`, status: 200 },
  ],
  'POST /api/v1/signups/{id}/approve': (victim) => [
    { path: `/signups/${victim.signup}/approve`, body: {}, status: 404 },
  ],
  'POST /api/v1/signups/{id}/reject': (victim) => [
    { path: `/signups/${victim.signup}/reject`, body: {}, status: 404 },
  ],
  'POST /api/v1/purchases/{internal_order_id}/reevaluate': (victim) => [
    { path: `/purchases/${victim.internalOrder}/reevaluate`, body: {}, status: 404 },
  ],
  'GET /api/v1/purchases': (victim) => [
    { path: '/purchases', status: 200 },
    { path: `/purchases?partner_id=${victim.partner}`, status: 200 },
    { path: `/purchases?program_id=${victim.program}&order_id=victims-purchase`, status: 200 },
  ],
  'GET /api/v1/ledger': (victim) => [
    { path: '/ledger', status: 200 },
    { path: `/ledger?partner_id=${victim.partner}`, status: 200 },
    { path: `/ledger?program_id=${victim.program}&external_user_id=${victim.referrer}`, status: 200 },
    { path: '/ledger?order_id=victims-purchase', status: 200 },
  ],
  'GET /api/v1/ledger/balances': (victim) => [
    { path: '/ledger/balances', status: 200 },
    { path: `/ledger/balances?partner_id=${victim.partner}`, status: 200 },
    { path: `/ledger/balances?external_user_id=${victim.referrer}`, status: 200 },
    { path: '/ledger/balances?order_id=victims-purchase', status: 200 },
  ],
  'GET /api/v1/programs': () => [{ path: '/programs', status: 200 }],
  'GET /api/v1/programs/{id}': (victim) => [{ path: `/programs/${victim.program}`, status: 404 }],
  'PATCH /api/v1/programs/{id}': (victim) => [
    { path: `/programs/${victim.program}`, body: { name: 'Stolen', status: 'paused' }, status: 404 },
  ],
  'GET /api/v1/programs/{id}/terms': (victim) => [{ path: `/programs/${victim.program}/terms`, status: 404 }],
  'POST /api/v1/programs/{id}/terms': (victim) => [
    { path: `/programs/${victim.program}/terms`, body: { text: 'Stolen' }, status: 404 },
  ],
  'POST /api/v1/programs': (victim) => [
    {
      path: '/programs',
      body: { name: 'Own', destination_url: URL_OF_OWN, code: victim.programCode.toUpperCase() },
      status: 409,
    },
    { path: '/programs', body: { name: 'Own', destination_url: URL_OF_OWN }, status: 201 },
  ],
};
